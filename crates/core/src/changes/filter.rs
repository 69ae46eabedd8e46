//! What one listener wants to hear, and what of all that is told that is.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Change, ChangeEvent, ChangeNotice};
use crate::{Caller, ChangeFilter};

/// How many levels above a changed URI are looked at.
const MOST_LEVELS: usize = 64;

/// What one listener wants to hear, and from whom.
pub(crate) struct Interest {
    /// Who listens; none hears only what is everyone's.
    pub(crate) listener: Option<Arc<Caller>>,
    pub(crate) filter: ChangeFilter,
    pub(crate) watched: Vec<Watched>,
    /// The one source whose lists are meant, where not all are.
    pub(crate) only: Option<usize>,
}

/// One resource that a listener asked for.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// The source that may tell of it. What another says of it is not believed.
    pub(crate) source: usize,
    /// Its URI at that source.
    pub(crate) native: String,
    /// Its URI as the listener spelled it, which is how it hears of it.
    pub(crate) spelled: String,
}

/// The URIs whose subscriptions cover a URI: those it lies below, the widest first, and itself.
pub fn covering_uris(uri: &str) -> impl Iterator<Item = &str> {
    let above = uri.match_indices(['/', '?', '#']).take(MOST_LEVELS);
    let ends = above.flat_map(|(at, mark)| {
        let folder = (mark == "/").then_some(at + 1);
        std::iter::once(at).chain(folder)
    });
    ends.chain([uri.len()]).map(|end| &uri[..end])
}

/// An interest, arranged for looking things up.
pub(super) struct Ear {
    pub(super) listener: Option<Arc<Caller>>,
    filter: ChangeFilter,
    /// By source, then by the URI there: how the listener spells it.
    watched: HashMap<usize, HashMap<String, Vec<String>>>,
    pub(super) only: Option<usize>,
}

impl Ear {
    pub(super) fn new(interest: Interest) -> Self {
        let mut watched: HashMap<_, HashMap<_, Vec<String>>> = HashMap::new();
        for Watched {
            source,
            native,
            spelled,
        } in interest.watched
        {
            watched
                .entry(source)
                .or_default()
                .entry(native)
                .or_default()
                .push(spelled);
        }
        Self {
            listener: interest.listener,
            filter: interest.filter,
            watched,
            only: interest.only,
        }
    }

    /// What the listener hears of the news of a source.
    pub(super) fn hears(&self, source: usize, telling: ChangeNotice) -> Vec<Change> {
        if !telling.recipients.includes(self.listener.as_deref()) {
            return Vec::new();
        }
        match telling.event {
            ChangeEvent::Change(change) => self.hears_of(source, change),
            ChangeEvent::AllResourcesUpdated => self.all_of(source),
            ChangeEvent::Missed => self.everything(),
        }
    }

    /// Nothing, or the change under the listener's own spellings.
    pub(super) fn hears_of(&self, source: usize, change: Change) -> Vec<Change> {
        let in_scope = self.only.is_none_or(|only| only == source);
        let wanted = match &change {
            Change::Tools => self.filter.tools,
            Change::Prompts => self.filter.prompts,
            Change::Resources => self.filter.resources,
            Change::ElicitationComplete(_) => self.filter.elicitation_complete,
            Change::ResourceUpdated(uri) => return self.updates(source, uri),
        };
        if in_scope && wanted {
            vec![change]
        } else {
            Vec::new()
        }
    }

    /// A subscription covers its URI and what lies below. Each URI above the changed one is looked
    /// up, so that a long list costs no more than a short one.
    fn updates(&self, source: usize, uri: &str) -> Vec<Change> {
        let Some(watched) = self.watched.get(&source) else {
            return Vec::new();
        };
        let mut updates = Vec::new();
        for above in covering_uris(uri) {
            for spelled in watched.get(above).into_iter().flatten() {
                let rest = &uri[above.len()..];
                let update = Change::ResourceUpdated(format!("{spelled}{rest}").into());
                if !updates.contains(&update) {
                    updates.push(update);
                }
            }
        }
        updates
    }

    /// An update of each resource of a source that the listener asked for.
    fn all_of(&self, source: usize) -> Vec<Change> {
        let watched = self.watched.get(&source).into_iter();
        let spelled = watched.flat_map(|uris| uris.values().flatten());
        let spelled: BTreeSet<_> = spelled.collect();
        let updates = spelled.into_iter();
        updates
            .map(|uri| Change::ResourceUpdated(uri.as_str().into()))
            .collect()
    }

    /// Every change this listener could hear of.
    pub(super) fn everything(&self) -> Vec<Change> {
        let lists = [
            (self.filter.tools, Change::Tools),
            (self.filter.prompts, Change::Prompts),
            (self.filter.resources, Change::Resources),
        ];
        let lists = lists
            .into_iter()
            .filter(|(wanted, _)| *wanted)
            .map(|(_, change)| change);
        let uris = self
            .filter
            .uris
            .iter()
            .map(|uri| Change::ResourceUpdated(uri.as_str().into()));
        lists.chain(uris).collect()
    }
}
