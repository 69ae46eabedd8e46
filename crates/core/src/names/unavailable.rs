//! Sources whose entries are unknown because they are starting or unreachable.

use super::{NameMap, SourceCatalog};
use crate::{CatalogGap, List};

/// What separates the source from the native name in a prefixed name.
const NAME_SEPARATORS: [&str; 3] = ["__", ".", "/"];

/// Unavailable sources that one message names.
const MAX_SOURCES_IN_MESSAGE: usize = 3;

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
    fn unavailable_message(&self, list: List) -> Option<String> {
        let gap = self.gap_in(list).filter(|_| self.lacks(list))?;
        Some(match self.catalog.gap {
            Some(CatalogGap::Loading) => {
                format!("source `{}` is still starting; retry soon", self.id)
            }
            _ if self.is_empty() => format!("source `{}` is unavailable: {gap}", self.id),
            _ => format!("a list of source `{}` is unavailable: {gap}", self.id),
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
        rest.is_some_and(|rest| {
            NAME_SEPARATORS
                .iter()
                .any(|separator| rest.starts_with(separator))
        })
    }
}

impl NameMap {
    /// A message that the source named by a prefix is unavailable, if it is.
    pub(crate) fn unavailable_source_of(&self, list: List, name: &str) -> Option<String> {
        let mut named = self
            .sources
            .iter()
            .filter(|source| source.is_named_by(name));
        named.find_map(|source| source.unavailable_message(list))
    }

    /// Messages about unavailable sources that may have the target.
    pub(crate) fn unavailable_sources(&self, list: List) -> impl Iterator<Item = String> {
        let messages = self.sources.iter();
        let messages = messages.filter_map(move |source| source.unavailable_message(list));
        messages.take(MAX_SOURCES_IN_MESSAGE)
    }
}
