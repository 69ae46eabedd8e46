//! The token cost of each definition. Counting is slow, so counts are remembered.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use parking_lot::Mutex;
use tidegate_core::{Element, List, SearchIndex, SourceId};

use crate::tokens;

/// When this many counts are remembered, they are discarded.
const MAX_COUNTS: usize = 400_000;

#[derive(Default)]
pub(super) struct TokenCosts {
    /// By the hash of the definition.
    counts: Mutex<HashMap<u64, u32>>,
}

/// The elements of a source, and the tokens of its tool list.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceCosts {
    /// Indexed by [`List`].
    pub(super) element_counts: [usize; 4],
    pub(super) tool_tokens: usize,
}

impl TokenCosts {
    /// The tokens of one definition, as it is listed. `_meta` is for clients; models do not get it.
    pub(super) fn of(&self, element: &Element<'_>) -> usize {
        let text = element.definition.as_str();
        let key = hash(text);
        if let Some(count) = self.counts.lock().get(&key) {
            return *count as usize;
        }
        let count = match element.definition.object() {
            Some(mut definition) => {
                definition.remove("_meta");
                tokens::count(definition.write().as_str())
            }
            None => tokens::count(text),
        };
        let mut counts = self.counts.lock();
        if counts.len() >= MAX_COUNTS {
            counts.clear();
        }
        counts.insert(key, u32::try_from(count).unwrap_or(u32::MAX));
        count
    }

    /// The costs of each source, in configuration order.
    pub(super) fn by_source(&self, index: &SearchIndex) -> Vec<(SourceId, SourceCosts)> {
        let mut costs: Vec<_> = index
            .sources()
            .map(|id| (id.clone(), SourceCosts::default()))
            .collect();
        let positions: HashMap<_, _> = (costs.iter().enumerate())
            .map(|(position, (id, _))| (id.clone(), position))
            .collect();
        for element in index.elements() {
            let Some(position) = positions.get(element.source) else {
                continue;
            };
            let source_costs = &mut costs[*position].1;
            source_costs.element_counts[element.list as usize] += 1;
            if element.list == List::Tools {
                source_costs.tool_tokens += self.of(&element);
            }
        }
        costs
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
