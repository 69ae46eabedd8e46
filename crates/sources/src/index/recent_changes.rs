//! Elements that were added, changed or removed since a viewer first read the index.
//!
//! Viewers see different lists, so each viewer class is compared with its own previous snapshot.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Weak};
use std::time::SystemTime;

use parking_lot::Mutex;
use tidegate_core::{List, SearchIndex, SourceId, Viewer};

use super::notice_log::{NoticeLog, NoticeTimes};

/// Viewer classes that are remembered.
const MAX_VIEWER_CLASSES: usize = 32;

/// Changes that are remembered for each viewer class.
const MAX_CHANGES: usize = 50;

#[derive(Clone, Debug)]
pub(super) struct RecentChange {
    /// When the gateway learned of it.
    pub(super) at: SystemTime,
    pub(super) list: List,
    pub(super) name: String,
    pub(super) kind: ElementChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementChange {
    Added,
    Changed,
    Removed,
}

/// Viewers of the same class see the same lists and the same recent changes.
pub(super) fn viewer_class(viewer: &Viewer<'_>) -> u64 {
    hash(&format!(
        "{}\0{}\0{:?}\0{}",
        viewer.caller.principal, viewer.caller.admin, viewer.client.era, viewer.client.capabilities
    ))
}

#[derive(Default)]
pub(super) struct RecentChanges {
    snapshots: Mutex<Vec<ViewerSnapshot>>,
    pub(super) notices: NoticeLog,
}

/// The last snapshot of one viewer class.
struct ViewerSnapshot {
    viewer_class: u64,
    index: Weak<SearchIndex>,
    taken_at: SystemTime,
    elements: ElementHashes,
    /// Newest first.
    changes: Arc<[RecentChange]>,
}

/// The hash of each definition, and its source.
type ElementHashes = HashMap<(List, String), (u64, SourceId)>;

impl RecentChanges {
    /// Compares the index with the previous snapshot. Returns the changes, newest first.
    pub(super) fn update(
        &self,
        viewer: &Viewer<'_>,
        index: &Arc<SearchIndex>,
    ) -> Arc<[RecentChange]> {
        let viewer_class = viewer_class(viewer);
        let mut snapshots = self.snapshots.lock();
        let mut known = snapshots.iter_mut();
        let Some(snapshot) = known.find(|snapshot| snapshot.viewer_class == viewer_class) else {
            if snapshots.len() == MAX_VIEWER_CLASSES {
                snapshots.remove(0);
            }
            snapshots.push(ViewerSnapshot::first(viewer_class, index));
            return Arc::default();
        };
        if !std::ptr::eq(snapshot.index.as_ptr(), Arc::as_ptr(index)) {
            let notices = self.notices.times_for(viewer.caller, snapshot.taken_at);
            snapshot.update(index, &notices);
        }
        Arc::clone(&snapshot.changes)
    }
}

impl ViewerSnapshot {
    fn first(viewer_class: u64, index: &Arc<SearchIndex>) -> Self {
        Self {
            viewer_class,
            index: Arc::downgrade(index),
            taken_at: SystemTime::now(),
            elements: element_hashes(index),
            changes: Arc::default(),
        }
    }

    fn update(&mut self, index: &Arc<SearchIndex>, notices: &NoticeTimes) {
        let elements = element_hashes(index);
        let now = SystemTime::now();
        let mut changes = self.changes.to_vec();
        let mut record = |(list, name): &(List, String), source: &SourceId, kind| {
            changes.retain(|change| change.list != *list || change.name != *name);
            changes.push(RecentChange {
                // An unannounced change counts as happening now.
                at: notices.time_of(source, *list, name).unwrap_or(now),
                list: *list,
                name: name.clone(),
                kind,
            });
        };
        for (key, (_, source)) in &self.elements {
            if !elements.contains_key(key) {
                record(key, source, ElementChange::Removed);
            }
        }
        for (key, (hash, source)) in &elements {
            match self.elements.get(key) {
                None => record(key, source, ElementChange::Added),
                Some((previous, _)) if previous != hash => {
                    record(key, source, ElementChange::Changed);
                }
                Some(_) => {}
            }
        }
        changes.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.name.cmp(&b.name)));
        changes.truncate(MAX_CHANGES);
        self.changes = changes.into();
        self.elements = elements;
        self.taken_at = now;
        self.index = Arc::downgrade(index);
    }
}

fn element_hashes(index: &SearchIndex) -> ElementHashes {
    let elements = index.elements();
    elements
        .map(|element| {
            let key = (element.list, element.name.to_owned());
            let hash = hash(element.definition.as_str());
            (key, (hash, element.source.clone()))
        })
        .collect()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
