//! What the source offers at one moment, and what differs from the moment before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::{
    CacheScope, Catalog, CatalogEntry, CatalogGap, Change, Features, Health, truncate_for_message,
};

use super::MOST_BYTES;
use super::library::Library;
use super::skill::SKILL;
use crate::files::entries;
use crate::folder::{Base, File, Place, Walked};

/// The state of the folder, as it was seen last.
pub(super) struct Shelf {
    pub(super) walked: Walked,
    pub(super) library: Library,
    pub(super) catalog: Arc<Catalog>,
}

impl Shelf {
    /// Before the first look.
    pub(super) fn coming() -> Self {
        Self {
            walked: Walked::default(),
            library: Library::default(),
            catalog: Arc::new(catalog(Vec::new(), Vec::new(), Some(CatalogGap::Loading))),
        }
    }

    /// The folder cannot be looked into.
    pub(super) fn closed(why: String) -> Self {
        Self {
            walked: Walked::default(),
            library: Library::default(),
            catalog: Arc::new(catalog(
                Vec::new(),
                Vec::new(),
                Some(CatalogGap::Unavailable(why)),
            )),
        }
    }

    pub(super) fn of(walked: Walked, library: Library, base: &Base) -> Self {
        let prompts = library.prompts.values().map(|prompt| prompt.entry());
        let resources = resources(&walked, &library, base);
        let gap = gap(&walked, &library).map(CatalogGap::Unavailable);
        let catalog = catalog(prompts.collect(), resources, gap);
        Self {
            catalog: Arc::new(catalog),
            walked,
            library,
        }
    }

    /// The same, with the catalog before where it is the same.
    pub(super) fn after(mut self, before: &Self) -> Self {
        if *self.catalog == *before.catalog {
            self.catalog = Arc::clone(&before.catalog);
        }
        self
    }

    pub(super) fn is_coming(&self) -> bool {
        self.catalog.gap == Some(CatalogGap::Loading)
    }

    pub(super) fn health(&self) -> Health {
        match &self.catalog.gap {
            None | Some(CatalogGap::Loading) => Health::Good,
            Some(CatalogGap::Unavailable(why)) if self.walked.folders.is_empty() => {
                Health::Down(why.clone())
            }
            Some(CatalogGap::Unavailable(why)) => Health::Degraded(why.clone()),
        }
    }

    /// Says in the log what is newly wrong.
    pub(super) fn log(&self, source: &str, before: &Self) {
        let known = &before.library.problems;
        for problem in &self.library.problems {
            if !known.contains(problem) {
                tracing::warn!(source, %problem, "a file is not a prompt");
            }
        }
        let (now, then) = (&self.catalog.gap, &before.catalog.gap);
        match now {
            Some(CatalogGap::Unavailable(why))
                if self.library.problems.is_empty() && now != then =>
            {
                tracing::warn!(source, why, "not everything is listed");
            }
            None if matches!(then, Some(CatalogGap::Unavailable(_))) => {
                tracing::info!(source, "everything is listed again");
            }
            _ => {}
        }
    }

    /// What changed since the moment before.
    pub(super) fn news(&self, base: &Base, before: &Self) -> Vec<Change> {
        let (now, then) = (&self.catalog, &before.catalog);
        let keys = |entries: &[CatalogEntry]| -> BTreeSet<String> {
            entries.iter().map(|entry| entry.key.clone()).collect()
        };
        let prompts = (now.prompts != then.prompts).then_some(Change::Prompts);
        let other = keys(&now.resources) != keys(&then.resources);
        let resources = other.then_some(Change::Resources);
        let touched = served(&self.walked, &self.library).filter(|(place, file)| {
            let known = before.walked.files.get(*place);
            known.is_some_and(|known| known.stamp != file.stamp)
        });
        let touched = touched.map(|(place, _)| Change::ResourceUpdated(base.uri(place).into()));
        let lists = prompts.into_iter().chain(resources);
        lists.chain(touched).collect()
    }
}

/// The files that are resources.
fn served<'a>(
    walked: &'a Walked,
    library: &'a Library,
) -> impl Iterator<Item = (&'a Place, &'a File)> {
    let files = walked.files.iter();
    // What is listed works: no file that is too large to be read.
    let files = files.filter(|(_, file)| file.stamp.size <= MOST_BYTES);
    files.filter(|(place, _)| library.skill_of(place).is_some())
}

fn resources(walked: &Walked, library: &Library, base: &Base) -> Vec<CatalogEntry> {
    let mut all: BTreeMap<&Place, CatalogEntry> = BTreeMap::new();
    for (place, file) in served(walked, library) {
        let Some((folder, skill)) = library.skill_of(place) else {
            continue;
        };
        let is_skill = folder.join(SKILL).as_ref() == Some(place);
        let (name, about) = match is_skill {
            true => (folder.to_string(), Some(skill.description.as_str())),
            false => (place.to_string(), None),
        };
        all.insert(
            place,
            entries::resource(&base.uri(place), &name, about, file),
        );
    }
    all.into_values().collect()
}

fn catalog(
    prompts: Vec<CatalogEntry>,
    resources: Vec<CatalogEntry>,
    gap: Option<CatalogGap>,
) -> Catalog {
    Catalog {
        features: Features {
            prompts: true,
            resources: true,
            subscribe: true,
            completions: true,
            ..Features::default()
        },
        scope: CacheScope::Public,
        gap,
        prompts,
        resources,
        ..Catalog::default()
    }
}

/// Why this is not all: what is wrong with the first file, and how many more there are.
fn gap(walked: &Walked, library: &Library) -> Option<String> {
    let more = library.problems.len().saturating_sub(1);
    let first = library
        .problems
        .first()
        .map(|first| truncate_for_message(&first.to_string()));
    match (first, more) {
        (Some(first), 0) => Some(first),
        (Some(first), more) => Some(format!("{first}; and {more} more, which the log names")),
        (None, _) if walked.is_cut => Some("too many files or folders to look at".to_owned()),
        (None, _) => walked
            .closed
            .first()
            .map(|first| format!("the folder `{first}` cannot be read")),
    }
}
