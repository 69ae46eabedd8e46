//! What is new, or not as it was, since the gateway first looked.
//!
//! Each kind of caller sees other lists, so each is compared with what it was shown before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use tidegate_core::{Audience, Index, List};

/// Kinds of callers that are remembered.
const MOST_KINDS: usize = 32;

/// Changes that are told of one.
const MOST_CHANGES: usize = 50;

/// Something that was noticed.
#[derive(Clone, Debug)]
pub(super) struct Noticed {
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
pub(super) fn kind_of(audience: &Audience<'_>) -> u64 {
    number(&format!(
        "{}\0{}\0{}\0{}",
        audience.caller.principal,
        audience.caller.admin,
        audience.terms.stateless,
        audience.terms.capabilities
    ))
}

#[derive(Default)]
pub(super) struct Recent {
    kinds: Mutex<Vec<Seen>>,
}

/// What one kind of caller was shown last.
struct Seen {
    kind: u64,
    last: Weak<Index>,
    elements: HashMap<(List, String), u64>,
    noticed: Arc<[Noticed]>,
}

impl Recent {
    /// Compares what is there with what was, and tells the newest changes first.
    pub(super) fn notice(&self, kind: u64, index: &Arc<Index>) -> Arc<[Noticed]> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
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
            seen.look_again(index);
        }
        Arc::clone(&seen.noticed)
    }
}

impl Seen {
    fn first(kind: u64, index: &Arc<Index>) -> Self {
        Self {
            kind,
            last: Arc::downgrade(index),
            elements: elements(index),
            noticed: Arc::default(),
        }
    }

    fn look_again(&mut self, index: &Arc<Index>) {
        let now = elements(index);
        let when = SystemTime::now();
        let mut noticed: Vec<_> = self.noticed.to_vec();
        let mut note = |(list, name): &(List, String), what| {
            let name = name.clone();
            noticed.retain(|one| one.list != *list || one.name != name);
            noticed.insert(
                0,
                Noticed {
                    when,
                    list: *list,
                    name,
                    what,
                },
            );
            noticed.truncate(MOST_CHANGES);
        };
        for key in self.elements.keys().filter(|key| !now.contains_key(*key)) {
            note(key, What::Removed);
        }
        for (key, definition) in &now {
            match self.elements.get(key) {
                None => note(key, What::Added),
                Some(before) if before != definition => note(key, What::Changed),
                Some(_) => {}
            }
        }
        self.noticed = noticed.into();
        self.elements = now;
        self.last = Arc::downgrade(index);
    }
}

fn elements(index: &Index) -> HashMap<(List, String), u64> {
    let all = index.elements();
    all.map(|element| {
        let key = (element.list, element.name.to_owned());
        (key, number(element.definition.as_str()))
    })
    .collect()
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
