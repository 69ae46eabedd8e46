//! Where the pages of the whole index begin. Looked for once, and no further than someone reads.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tidegate_core::{Element, Index};

#[derive(Default)]
pub(super) struct Pages {
    known: Mutex<Known>,
}

/// The pages of one index, as far as they have been looked for.
#[derive(Default)]
struct Known {
    of: Weak<Index>,
    /// Where each page ends and the next begins.
    ends: Vec<usize>,
}

impl Pages {
    /// Where a page begins and ends, counted from 1. Every page is as long as the budget allows.
    pub(super) fn bounds(
        &self,
        index: &Arc<Index>,
        number: usize,
        budget: usize,
        cost: impl Fn(&Element<'_>) -> usize,
    ) -> Option<(usize, usize)> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::ptr::eq(known.of.as_ptr(), Arc::as_ptr(index)) {
            *known = Known {
                of: Arc::downgrade(index),
                ends: Vec::new(),
            };
        }
        while known.ends.len() < number {
            let start = known.ends.last().copied().unwrap_or(0);
            let end = end(index, start, budget, &cost);
            // An index with nothing in it has one page too.
            if end == start && !known.ends.is_empty() {
                return None;
            }
            known.ends.push(end);
        }
        let start = match number.checked_sub(2) {
            Some(before) => known.ends[before],
            None => 0,
        };
        Some((start, known.ends[number - 1]))
    }
}

fn end(index: &Index, start: usize, budget: usize, cost: &impl Fn(&Element<'_>) -> usize) -> usize {
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
