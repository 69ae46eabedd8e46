//! What the source offers at one moment, and what differs from the moment before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::{CacheScope, Catalog, CatalogGap, Change, Features, Health};

use super::{Inner, entries};
use crate::folder::{Base, Place, Walked};

/// The state of the folder, as it was seen last.
pub(super) struct Shelf {
    pub(super) walked: Walked,
    pub(super) catalog: Arc<Catalog>,
}

impl Shelf {
    /// Before the first look.
    pub(super) fn coming() -> Self {
        Self {
            walked: Walked::default(),
            catalog: Arc::new(empty(CatalogGap::Loading)),
        }
    }

    /// The folder cannot be looked into.
    pub(super) fn closed(why: String, before: &Self) -> Self {
        Self {
            walked: Walked::default(),
            catalog: kept(empty(CatalogGap::Unavailable(why)), before),
        }
    }

    pub(super) fn of(walked: Walked, source: &Inner, before: &Self) -> Self {
        let catalog = Catalog {
            gap: gap(&walked, source.max_files).map(CatalogGap::Unavailable),
            resources: entries::resources(
                &source.base,
                &source.root,
                &walked.files,
                source.max_file_bytes,
            ),
            templates: vec![entries::template(&source.template())],
            ..Catalog::default()
        };
        Self {
            walked,
            catalog: kept(catalog, before),
        }
    }

    pub(super) fn is_coming(&self) -> bool {
        self.catalog.gap == Some(CatalogGap::Loading)
    }

    fn is_closed(&self) -> bool {
        self.walked.folders.is_empty()
    }

    pub(super) fn health(&self) -> Health {
        match &self.catalog.gap {
            None | Some(CatalogGap::Loading) => Health::Good,
            Some(CatalogGap::Unavailable(why)) if self.is_closed() => Health::Down(why.clone()),
            Some(CatalogGap::Unavailable(why)) => Health::Degraded(why.clone()),
        }
    }

    /// Says in the log what is new about what is missing.
    pub(super) fn log(&self, source: &str, before: &Self) {
        let (now, then) = (&self.catalog.gap, &before.catalog.gap);
        match (now, then) {
            (Some(CatalogGap::Unavailable(why)), then) if now != then => {
                tracing::warn!(source, why, "not everything is listed");
            }
            (None, Some(CatalogGap::Unavailable(_))) => {
                tracing::info!(source, "everything is listed again");
            }
            _ => {}
        }
    }

    /// What changed since the moment before.
    pub(super) fn news(&self, base: &Base, before: &Self) -> Vec<Change> {
        if before.is_coming() {
            return vec![Change::Resources];
        }
        let (now, then) = (&self.walked.files, &before.walked.files);
        let touched = now.iter().filter(|(place, file)| {
            let known = then.get(*place);
            known.is_none_or(|known| known.stamp != file.stamp)
        });
        let touched: Vec<&Place> = touched.map(|(place, _)| place).collect();
        let lost: Vec<&Place> = then
            .keys()
            .filter(|place| !now.contains_key(*place))
            .collect();
        let has_come = touched.iter().any(|place| !then.contains_key(*place));
        let folders = difference(&self.walked.folders, &before.walked.folders);
        // A folder's contents are the names in it, with sizes and times.
        let changed = touched
            .iter()
            .chain(&lost)
            .copied()
            .chain(folders.iter().copied());
        let mut holders: BTreeSet<Place> = changed.filter_map(Place::parent).collect();
        holders.extend(folders.into_iter().cloned());
        let files = touched.into_iter().chain(lost.iter().copied());
        let files = files.map(|place| base.uri(place));
        let holders = holders.iter().map(|folder| base.folder_uri(folder));
        let updates = files.chain(holders);
        let updates = updates.map(|uri| Change::ResourceUpdated(uri.into()));
        let is_other = has_come || !lost.is_empty() || self.is_closed() != before.is_closed();
        let list = is_other.then_some(Change::Resources);
        list.into_iter().chain(updates).collect()
    }
}

/// What only one of two has.
fn difference<'a, T>(now: &'a BTreeMap<Place, T>, then: &'a BTreeMap<Place, T>) -> Vec<&'a Place> {
    let come = now.keys().filter(|place| !then.contains_key(*place));
    let gone = then.keys().filter(|place| !now.contains_key(*place));
    come.chain(gone).collect()
}

/// The catalog before, where it is the same: then nothing that was made from it is made anew.
fn kept(catalog: Catalog, before: &Shelf) -> Arc<Catalog> {
    let catalog = Catalog {
        features: Features {
            resources: true,
            subscribe: true,
            completions: true,
            ..Features::default()
        },
        scope: CacheScope::Public,
        ..catalog
    };
    match catalog == *before.catalog {
        true => Arc::clone(&before.catalog),
        false => Arc::new(catalog),
    }
}

fn empty(gap: CatalogGap) -> Catalog {
    Catalog {
        gap: Some(gap),
        ..Catalog::default()
    }
}

fn gap(walked: &Walked, most: usize) -> Option<String> {
    let cut = walked.is_cut.then(|| {
        format!(
            "more than {most} files or folders: the rest is not listed, but can be read by its URI; \
             leave some out with `exclude`, or raise `max_files`"
        )
    });
    let closed = walked.closed.first().map(|first| {
        let count = walked.closed.len();
        format!("{count} folders cannot be read, `{first}` first")
    });
    let all: Vec<_> = cut.into_iter().chain(closed).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
