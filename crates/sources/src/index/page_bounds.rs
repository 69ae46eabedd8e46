//! The page boundaries of the full index, computed once, on demand.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tidegate_core::{Element, SearchIndex};

/// Indexes whose boundaries are remembered.
const MAX_INDEXES: usize = 8;

#[derive(Default)]
pub(super) struct PageBounds {
    known: Mutex<Vec<KnownPages>>,
}

/// The pages of one index that have been computed so far.
#[derive(Clone, Default)]
struct KnownPages {
    index: Weak<SearchIndex>,
    /// The end of each page, which is the start of the next.
    ends: Vec<usize>,
}

impl PageBounds {
    /// The first element and the end of a page, counted from 1. Each page is as long as the token
    /// budget allows.
    pub(super) fn get(
        &self,
        index: &Arc<SearchIndex>,
        number: usize,
        budget: usize,
        cost: impl Fn(&Element<'_>) -> usize,
    ) -> Option<(usize, usize)> {
        // A copy, so that no lock is held while pages are computed.
        let mut pages = self.known_pages(index);
        let mut at_end = false;
        while pages.ends.len() < number && !at_end {
            let start = pages.ends.last().copied().unwrap_or(0);
            let end = page_end(index, start, budget, &cost);
            // An empty index has one page.
            at_end = end == start && !pages.ends.is_empty();
            if !at_end {
                pages.ends.push(end);
            }
        }
        let start = match number.checked_sub(2) {
            Some(previous) => pages.ends.get(previous).copied(),
            None => Some(0),
        };
        let bounds = start.zip(pages.ends.get(number.checked_sub(1)?).copied());
        self.remember(pages);
        bounds
    }

    fn known_pages(&self, index: &Arc<SearchIndex>) -> KnownPages {
        let index = Arc::downgrade(index);
        let known = self.known.lock();
        let pages = known.iter().find(|pages| pages.index.ptr_eq(&index));
        pages.cloned().unwrap_or(KnownPages {
            index,
            ends: Vec::new(),
        })
    }

    fn remember(&self, pages: KnownPages) {
        let mut known = self.known.lock();
        known.retain(|other| !other.index.ptr_eq(&pages.index) && other.index.strong_count() > 0);
        if known.len() == MAX_INDEXES {
            known.remove(0);
        }
        known.push(pages);
    }
}

fn page_end(
    index: &SearchIndex,
    start: usize,
    budget: usize,
    cost: &impl Fn(&Element<'_>) -> usize,
) -> usize {
    let mut budget = budget;
    let mut end = start;
    for element in index.elements().skip(start) {
        match budget.checked_sub(cost(&element)) {
            Some(remaining) => budget = remaining,
            None if end > start => break,
            // A page has at least one element, even one that exceeds the budget.
            None => budget = 0,
        }
        end += 1;
    }
    end
}
