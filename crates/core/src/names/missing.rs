//! Sources whose entries are unknown because they are starting or unreachable.

use super::{NameMap, SourceCatalog};
use crate::{CatalogGap, List};

/// What separates a source from a native name.
const DIVIDERS: [&str; 3] = ["__", ".", "/"];

/// Missing sources that one message names.
const MAX_NAMED: usize = 3;

impl SourceCatalog {
    /// Why a list is incomplete, if it is.
    pub(crate) fn gap_in(&self, list: List) -> Option<String> {
        match &self.catalog.gap {
            Some(CatalogGap::Loading) => Some("is still starting".to_owned()),
            Some(CatalogGap::Unavailable(reason)) => Some(reason.clone()),
            None => self.catalog.defects_in(list),
        }
    }

    /// A message that this source or its list is unavailable, if it is.
    fn missing_message(&self, list: List) -> Option<String> {
        let gap = self.gap_in(list).filter(|_| self.lacks(list))?;
        Some(match self.catalog.gap {
            Some(CatalogGap::Loading) => {
                format!("source `{}` is still starting; retry soon", self.id)
            }
            _ if self.is_empty() => format!("source `{}` is missing: {gap}", self.id),
            _ => format!("a list of source `{}` is missing: {gap}", self.id),
        })
    }

    fn is_empty(&self) -> bool {
        let is_empty = |list: &List| self.catalog.list(*list).is_empty();
        List::ALL.iter().all(is_empty)
    }

    /// Whether a list is empty although the source may have entries of this kind.
    fn lacks(&self, list: List) -> bool {
        let is_empty = self.catalog.list(list).is_empty();
        is_empty && (self.catalog.features.has(list) || self.is_empty())
    }

    fn is_named_by(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.id.as_str());
        rest.is_some_and(|rest| DIVIDERS.iter().any(|divider| rest.starts_with(divider)))
    }
}

impl NameMap {
    /// A message that the source named by a prefix is unavailable, if it is.
    pub(crate) fn missing_source_of(&self, list: List, name: &str) -> Option<String> {
        let mut named = self
            .sources
            .iter()
            .filter(|source| source.is_named_by(name));
        named.find_map(|source| source.missing_message(list))
    }

    /// Messages about unavailable sources that may have the target.
    pub(crate) fn missing_sources(&self, list: List) -> impl Iterator<Item = String> {
        let messages = self.sources.iter();
        let messages = messages.filter_map(move |source| source.missing_message(list));
        messages.take(MAX_NAMED)
    }
}
