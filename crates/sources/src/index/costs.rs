//! What each definition costs a model's context. Counted once, for counting is slow.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use parking_lot::Mutex;
use tidegate_core::{Element, List, SearchIndex, SourceId};

use crate::tokens;

/// More than any gateway has; beyond it they are counted anew.
const MOST: usize = 400_000;

#[derive(Default)]
pub(super) struct Costs {
    known: Mutex<HashMap<u64, u32>>,
}

/// What a source has, and what listing its tools costs.
#[derive(Clone, Debug, Default)]
pub(super) struct OfSource {
    pub(super) counts: [usize; 4],
    pub(super) tokens: usize,
}

impl Costs {
    /// The tokens of one definition, as it is listed.
    pub(super) fn of(&self, element: &Element<'_>) -> usize {
        let text = element.definition.as_str();
        let key = number(text);
        let mut known = self.known.lock();
        if let Some(count) = known.get(&key) {
            return *count as usize;
        }
        drop(known);
        let count = tokens::count(text);
        known = self.known.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, u32::try_from(count).unwrap_or(u32::MAX));
        count
    }

    /// What each source has, in the order of the configuration.
    pub(super) fn of_all(&self, index: &SearchIndex) -> Vec<(SourceId, OfSource)> {
        let mut all: Vec<_> = index
            .sources()
            .map(|id| (id.clone(), OfSource::default()))
            .collect();
        let at: HashMap<_, _> = (all.iter().enumerate())
            .map(|(at, (id, _))| (id.clone(), at))
            .collect();
        for element in index.elements() {
            let Some(at) = at.get(element.source) else {
                continue;
            };
            let of_source = &mut all[*at].1;
            of_source.counts[element.list as usize] += 1;
            if element.list == List::Tools {
                of_source.tokens += self.of(&element);
            }
        }
        all
    }
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
