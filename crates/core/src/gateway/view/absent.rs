//! Sources of which it is not known what they have: they were never there, or are still starting.

use super::{Part, View};
use crate::{CatalogGap, List};

/// What divides a source from a name.
const DIVIDERS: [&str; 3] = ["__", ".", "/"];

/// Absent sources that one message names.
const MOST_NAMED: usize = 3;

impl Part {
    /// Why a list of its is not whole, if it is not.
    pub(super) fn gap(&self, list: List) -> Option<String> {
        match &self.catalog.gap {
            Some(CatalogGap::Loading) => Some("is still starting".to_owned()),
            Some(CatalogGap::Unavailable(why)) => Some(why.clone()),
            None => self.catalog.defects_in(list),
        }
    }

    /// In words, that nothing of a list of its is known.
    fn absence(&self, list: List) -> Option<String> {
        let gap = self.gap(list).filter(|_| self.lacks(list))?;
        Some(match self.catalog.gap {
            Some(CatalogGap::Loading) => {
                format!("the source `{}` is still starting; try again soon", self.id)
            }
            _ if self.is_empty() => format!("the source `{}` is missing: {gap}", self.id),
            _ => format!("a part of the source `{}` is missing: {gap}", self.id),
        })
    }

    fn is_empty(&self) -> bool {
        let is_empty = |list: &List| self.catalog.list(*list).is_empty();
        List::ALL.iter().all(is_empty)
    }

    /// Whether a list is empty that need not be: the source has such, or nothing of it is known.
    fn lacks(&self, list: List) -> bool {
        self.catalog.list(list).is_empty() && (self.has(list) || self.is_empty())
    }

    /// Whether the source says that it has such.
    pub(super) fn has(&self, list: List) -> bool {
        self.catalog.features.has(list)
    }

    fn is_named_by(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.id.as_str());
        rest.is_some_and(|rest| DIVIDERS.iter().any(|divider| rest.starts_with(divider)))
    }
}

impl View {
    /// That the source which a name says is absent, if it is.
    pub(crate) fn absent(&self, list: List, name: &str) -> Option<String> {
        let mut named = self.parts.iter().filter(|part| part.is_named_by(name));
        named.find_map(|part| part.absence(list))
    }

    /// That sources are absent which may have what is not found.
    pub(crate) fn absences(&self, list: List) -> impl Iterator<Item = String> {
        let absences = self.parts.iter().filter_map(move |part| part.absence(list));
        absences.take(MOST_NAMED)
    }
}
