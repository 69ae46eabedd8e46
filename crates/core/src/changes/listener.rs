//! One listener: what it subscribed to, and which changes that covers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Change, ChangeEvent, ChangeFilter, ChangeNotice};
use crate::{Caller, SourceId};

/// How many levels above a changed URI are looked up.
const MAX_URI_LEVELS: usize = 64;

/// What one listener subscribed to.
pub(crate) struct Interest {
    /// Who listens; `None` receives only changes that are for all principals.
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) filter: ChangeFilter,
    pub(crate) resources: Vec<SubscribedResource>,
    /// Restricts list changes to one source.
    pub(crate) only: Option<SourceId>,
}

/// One resource that a listener subscribed to.
#[derive(Clone, Debug)]
pub(crate) struct SubscribedResource {
    /// The source of the resource. Updates from other sources are ignored.
    pub(crate) source: SourceId,
    /// Its URI at that source.
    pub(crate) native: String,
    /// Its URI in the client's request, under which the client is notified.
    pub(crate) requested: String,
}

/// The URIs whose subscription covers `uri`: its ancestors, the shortest first, and `uri` itself.
pub fn covering_uris(uri: &str) -> impl Iterator<Item = &str> {
    let separators = uri.match_indices(['/', '?', '#']).take(MAX_URI_LEVELS);
    let ends = separators.flat_map(|(at, separator)| {
        let folder = (separator == "/").then_some(at + 1);
        std::iter::once(at).chain(folder)
    });
    ends.chain([uri.len()]).map(|end| &uri[..end])
}

/// An interest, indexed for lookups.
pub(super) struct ChangeListener {
    pub(super) caller: Option<Arc<Caller>>,
    filter: ChangeFilter,
    /// By source and native URI: the requested URIs.
    resources: HashMap<SourceId, HashMap<String, Vec<String>>>,
    pub(super) only: Option<SourceId>,
}

impl ChangeListener {
    pub(super) fn new(interest: Interest) -> Self {
        let mut resources: HashMap<_, HashMap<_, Vec<String>>> = HashMap::new();
        for resource in interest.resources {
            let of_source = resources.entry(resource.source).or_default();
            let requested = of_source.entry(resource.native).or_default();
            requested.push(resource.requested);
        }
        Self {
            caller: interest.caller,
            filter: interest.filter,
            resources,
            only: interest.only,
        }
    }

    /// The changes in a notice that this listener subscribed to.
    pub(super) fn changes_in(&self, source: &SourceId, notice: ChangeNotice) -> Vec<Change> {
        if !notice.recipients.includes(self.caller.as_deref()) {
            return Vec::new();
        }
        match notice.event {
            ChangeEvent::Change(change) => self.subscribed(source, change),
            ChangeEvent::AllResourcesUpdated => self.all_resources_of(source),
            ChangeEvent::Missed => self.all_changes(),
        }
    }

    /// Nothing, or the change, with the URIs that the listener requested.
    pub(super) fn subscribed(&self, source: &SourceId, change: Change) -> Vec<Change> {
        let in_scope = self.only.as_ref().is_none_or(|only| only == source);
        let subscribed = match &change {
            Change::Tools => self.filter.tools,
            Change::Prompts => self.filter.prompts,
            Change::Resources => self.filter.resources,
            Change::ElicitationComplete(_) => self.filter.elicitation_complete,
            Change::Extension(_) => self.filter.extensions && self.only.is_some(),
            Change::ResourceUpdated(uri) => return self.updates(source, uri),
        };
        if in_scope && subscribed {
            vec![change]
        } else {
            Vec::new()
        }
    }

    /// A subscription covers its URI and everything below. Each URI above the updated one is looked
    /// up, so the cost does not grow with the number of subscriptions.
    fn updates(&self, source: &SourceId, uri: &str) -> Vec<Change> {
        let Some(resources) = self.resources.get(source) else {
            return Vec::new();
        };
        let mut updates = Vec::new();
        for covering in covering_uris(uri) {
            for requested in resources.get(covering).into_iter().flatten() {
                let rest = &uri[covering.len()..];
                let update = Change::ResourceUpdated(format!("{requested}{rest}").into());
                if !updates.contains(&update) {
                    updates.push(update);
                }
            }
        }
        updates
    }

    fn all_resources_of(&self, source: &SourceId) -> Vec<Change> {
        let resources = self.resources.get(source).into_iter();
        let requested: BTreeSet<_> = resources.flat_map(|uris| uris.values().flatten()).collect();
        requested.into_iter().map(|uri| updated(uri)).collect()
    }

    /// Every change that this listener subscribed to, except completed elicitations and notifications of
    /// extensions.
    pub(super) fn all_changes(&self) -> Vec<Change> {
        let lists = [
            (self.filter.tools, Change::Tools),
            (self.filter.prompts, Change::Prompts),
            (self.filter.resources, Change::Resources),
        ];
        let lists = lists.into_iter().filter(|(subscribed, _)| *subscribed);
        let lists = lists.map(|(_, change)| change);
        lists
            .chain(self.filter.uris.iter().map(|uri| updated(uri)))
            .collect()
    }
}

fn updated(uri: &str) -> Change {
    Change::ResourceUpdated(uri.into())
}
