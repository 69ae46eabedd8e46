//! Where the pages of the whole index begin. Looked for once, and no further than someone reads.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tidegate_core::{Element, SearchIndex};

/// Kinds of callers whose pages are remembered.
const MOST_KNOWN: usize = 8;

#[derive(Default)]
pub(super) struct Pages {
    known: Mutex<Vec<Known>>,
}

/// The pages of one index, as far as they have been looked for.
#[derive(Clone, Default)]
struct Known {
    of: Weak<SearchIndex>,
    /// Where each page ends and the next begins.
    ends: Vec<usize>,
}

impl Pages {
    /// Where a page begins and ends, counted from 1. Every page is as long as the budget allows.
    pub(super) fn bounds(
        &self,
        index: &Arc<SearchIndex>,
        number: usize,
        budget: usize,
        cost: impl Fn(&Element<'_>) -> usize,
    ) -> Option<(usize, usize)> {
        let mut known = self.take(index);
        let mut ended = false;
        while known.ends.len() < number && !ended {
            let start = known.ends.last().copied().unwrap_or(0);
            let end = end(index, start, budget, &cost);
            // An index with nothing in it has one page too.
            ended = end == start && !known.ends.is_empty();
            if !ended {
                known.ends.push(end);
            }
        }
        let start = match number.checked_sub(2) {
            Some(before) => known.ends.get(before).copied(),
            None => Some(0),
        };
        let bounds = start.zip(known.ends.get(number.checked_sub(1)?).copied());
        self.put(known);
        bounds
    }

    /// What is known of an index. Nobody waits while it is looked for further.
    fn take(&self, index: &Arc<SearchIndex>) -> Known {
        let all = self.known.lock();
        let known = all.iter().find(|known| known.is_of(&Arc::downgrade(index)));
        known.cloned().unwrap_or_else(|| Known {
            of: Arc::downgrade(index),
            ends: Vec::new(),
        })
    }

    fn put(&self, known: Known) {
        let mut all = self.known.lock();
        all.retain(|other| !other.is_of(&known.of) && other.of.strong_count() > 0);
        if all.len() == MOST_KNOWN {
            all.remove(0);
        }
        all.push(known);
    }
}

impl Known {
    fn is_of(&self, index: &Weak<SearchIndex>) -> bool {
        self.of.ptr_eq(index)
    }
}

fn end(
    index: &SearchIndex,
    start: usize,
    budget: usize,
    cost: &impl Fn(&Element<'_>) -> usize,
) -> usize {
    let mut left = budget;
    let mut end = start;
    for element in index.elements().skip(start) {
        match left.checked_sub(cost(&element)) {
            Some(rest) => left = rest,
            // One alone is always taken: its text is bounded.
            None if end > start => break,
            None => left = 0,
        }
        end += 1;
    }
    end
}
