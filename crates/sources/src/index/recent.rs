//! What is new, or not as it was, since the gateway first looked.
//!
//! Each kind of caller sees other lists, so each is compared with what it was shown before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use parking_lot::Mutex;
use tidegate_core::{List, SearchIndex, SourceId, Viewer};

use super::times::{Heard, Times};

/// Kinds of callers that are remembered.
const MOST_KINDS: usize = 32;

/// Changes that are told of one.
const MOST_CHANGES: usize = 50;

/// Something that was noticed.
#[derive(Clone, Debug)]
pub(super) struct Noticed {
    /// When the gateway learned of it.
    pub(super) when: SystemTime,
    pub(super) list: List,
    pub(super) name: String,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Added,
    Changed,
    Removed,
}

/// A number for those who see the same lists and remember the same things.
pub(super) fn kind_of(viewer: &Viewer<'_>) -> u64 {
    number(&format!(
        "{}\0{}\0{}\0{}",
        viewer.caller.principal,
        viewer.caller.admin,
        viewer.client.stateless,
        viewer.client.capabilities
    ))
}

#[derive(Default)]
pub(super) struct Recent {
    kinds: Mutex<Vec<Seen>>,
    pub(super) times: Times,
}

/// What one kind of caller was shown last.
struct Seen {
    kind: u64,
    last: Weak<SearchIndex>,
    looked: SystemTime,
    elements: Elements,
    noticed: Arc<[Noticed]>,
}

/// Each element with the number of its definition, and whose it is.
type Elements = HashMap<(List, String), (u64, SourceId)>;

impl Recent {
    /// Compares what is there with what was, and tells the newest changes first.
    pub(super) fn notice(&self, viewer: &Viewer<'_>, index: &Arc<SearchIndex>) -> Arc<[Noticed]> {
        let kind = kind_of(viewer);
        let mut kinds = self.kinds.lock();
        let at = kinds.iter().position(|seen| seen.kind == kind);
        let Some(at) = at else {
            if kinds.len() == MOST_KINDS {
                kinds.remove(0);
            }
            kinds.push(Seen::first(kind, index));
            return Arc::default();
        };
        let seen = &mut kinds[at];
        if !std::ptr::eq(seen.last.as_ptr(), Arc::as_ptr(index)) {
            let heard = self.times.heard(viewer.caller, seen.looked);
            seen.look_again(index, &heard);
        }
        Arc::clone(&seen.noticed)
    }
}

impl Seen {
    fn first(kind: u64, index: &Arc<SearchIndex>) -> Self {
        Self {
            kind,
            last: Arc::downgrade(index),
            looked: SystemTime::now(),
            elements: elements(index),
            noticed: Arc::default(),
        }
    }

    fn look_again(&mut self, index: &Arc<SearchIndex>, heard: &Heard) {
        let now = elements(index);
        let looked = SystemTime::now();
        let mut noticed: Vec<_> = self.noticed.to_vec();
        let mut note = |(list, name): &(List, String), source: &SourceId, what| {
            noticed.retain(|one| one.list != *list || one.name != *name);
            noticed.push(Noticed {
                // What nobody told of is new now.
                when: heard.when(source, *list, name).unwrap_or(looked),
                list: *list,
                name: name.clone(),
                what,
            });
        };
        for (key, (_, source)) in &self.elements {
            if !now.contains_key(key) {
                note(key, source, What::Removed);
            }
        }
        for (key, (definition, source)) in &now {
            match self.elements.get(key) {
                None => note(key, source, What::Added),
                Some((before, _)) if before != definition => note(key, source, What::Changed),
                Some(_) => {}
            }
        }
        noticed.sort_by(|a, b| b.when.cmp(&a.when).then_with(|| a.name.cmp(&b.name)));
        noticed.truncate(MOST_CHANGES);
        self.noticed = noticed.into();
        self.elements = now;
        self.looked = looked;
        self.last = Arc::downgrade(index);
    }
}

fn elements(index: &SearchIndex) -> Elements {
    let all = index.elements();
    all.map(|element| {
        let key = (element.list, element.name.to_owned());
        let definition = number(element.definition.as_str());
        (key, (definition, element.source.clone()))
    })
    .collect()
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
