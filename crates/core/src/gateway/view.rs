//! The merged catalog of a scope: what is listed, under which names, and where each name leads.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Shared;
use super::cursor::Cursor;
use crate::changes::Watched;
use crate::{CacheScope, Catalog, Entry, Features, List, Object, RawJson, Result, Scope, SourceId};

/// What a name leads to: a source, and the name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) source: usize,
    pub(crate) native: String,
}

/// A snapshot of everything in a scope.
pub(crate) struct View {
    made_of: Vec<(usize, Arc<Catalog>)>,
    ids: Vec<SourceId>,
    lists: [Listing; 4],
    pub(crate) features: Features,
    pub(crate) cache_scope: CacheScope,
}

/// One merged list.
#[derive(Default)]
struct Listing {
    definitions: Vec<RawJson>,
    by_name: HashMap<String, Found>,
    generation: u64,
}

impl View {
    pub(super) fn new(shared: &Shared, scope: &Scope, made_of: Vec<(usize, Arc<Catalog>)>) -> Self {
        let ids = shared
            .sources
            .iter()
            .map(|(id, _)| id.clone())
            .collect::<Vec<_>>();
        let lists = List::ALL.map(|list| {
            let mut listing = Listing::default();
            for (source, catalog) in &made_of {
                for entry in catalog.list(list) {
                    listing.add(
                        *source,
                        entry,
                        exposed(list, scope, &ids[*source], &entry.key),
                    );
                }
            }
            listing.seal();
            listing
        });
        let features = match scope {
            Scope::All => Features::ALL,
            Scope::Source(_) => made_of
                .first()
                .map(|(_, one)| one.features)
                .unwrap_or_default(),
        };
        let cache_scope = made_of
            .iter()
            .map(|(_, catalog)| catalog.scope)
            .reduce(CacheScope::and)
            .unwrap_or_default();
        Self {
            made_of,
            ids,
            lists,
            features,
            cache_scope,
        }
    }

    pub(crate) fn is_made_of(&self, snapshots: &[(usize, Arc<Catalog>)]) -> bool {
        self.made_of.len() == snapshots.len()
            && std::iter::zip(&self.made_of, snapshots)
                .all(|(ours, theirs)| ours.0 == theirs.0 && Arc::ptr_eq(&ours.1, &theirs.1))
    }

    /// One page of a list, as the result of a list request.
    pub(crate) fn page(&self, list: List, cursor: Option<&str>, size: usize) -> Result<RawJson> {
        let listing = &self.lists[list as usize];
        let start = match cursor {
            None => 0,
            Some(text) => Cursor::open(text, list, listing.generation)?.offset,
        };
        let rest = listing.definitions.get(start..).unwrap_or_default();
        let page = &rest[..rest.len().min(size)];
        let mut entries =
            String::with_capacity(page.iter().map(|one| one.as_str().len() + 1).sum());
        entries.push('[');
        for (index, definition) in page.iter().enumerate() {
            if index > 0 {
                entries.push(',');
            }
            entries.push_str(definition.as_str());
        }
        entries.push(']');
        let mut result = Object::default();
        result.set(list.member(), entries);
        if page.len() < rest.len() {
            let next = Cursor {
                list,
                generation: listing.generation,
                offset: start + page.len(),
            };
            result.set(
                "nextCursor",
                RawJson::string(&next.write()).as_str().to_owned(),
            );
        }
        Ok(result.write())
    }

    /// A tool by its listed name, as `source.tool`, or by its bare name where only one source has it.
    pub(crate) fn tool(&self, name: &str) -> Option<Found> {
        let listed = self.lists[List::Tools as usize].by_name.get(name).cloned();
        listed
            .or_else(|| self.dotted(name))
            .or_else(|| self.bare(List::Tools, name))
    }

    /// A prompt by its listed name, or by its bare name where only one source has it.
    pub(crate) fn prompt(&self, name: &str) -> Option<Found> {
        let listed = self.lists[List::Prompts as usize]
            .by_name
            .get(name)
            .cloned();
        listed.or_else(|| self.bare(List::Prompts, name))
    }

    /// A resource by its URI, native or qualified.
    pub(crate) fn resource(&self, uri: &str) -> Option<Found> {
        self.qualified(uri).or_else(|| {
            self.lists[List::Resources as usize]
                .by_name
                .get(uri)
                .cloned()
        })
    }

    pub(crate) fn template(&self, text: &str) -> Option<Found> {
        self.lists[List::Templates as usize]
            .by_name
            .get(text)
            .cloned()
    }

    /// The definition of what was found, as its source wrote it.
    pub(crate) fn definition(&self, list: List, found: &Found) -> Option<&RawJson> {
        let (_, catalog) = self
            .made_of
            .iter()
            .find(|(index, _)| *index == found.source)?;
        let entry = catalog
            .list(list)
            .iter()
            .find(|entry| entry.key == found.native)?;
        Some(&entry.definition)
    }

    /// Where to hear of a resource's updates, if its source tells of them.
    pub(crate) fn watched(&self, uri: &str) -> Option<Watched> {
        let Found { source, native } = self.resource(uri)?;
        let (_, catalog) = self.made_of.iter().find(|(index, _)| *index == source)?;
        let spelled = uri.to_owned();
        catalog.features.subscribe.then_some(Watched {
            source,
            native,
            spelled,
        })
    }

    fn dotted(&self, name: &str) -> Option<Found> {
        let (source, native) = name.split_once('.')?;
        self.at(source, List::Tools, native)
    }

    /// `gateway://{source}/{original-uri}`: always accepted.
    fn qualified(&self, uri: &str) -> Option<Found> {
        let (source, native) = uri.strip_prefix("gateway://")?.split_once('/')?;
        self.at(source, List::Resources, native)
    }

    fn at(&self, source: &str, list: List, native: &str) -> Option<Found> {
        let (source, catalog) = self
            .made_of
            .iter()
            .find(|(index, _)| self.ids[*index].as_str() == source)?;
        catalog.has(list, native).then(|| Found {
            source: *source,
            native: native.to_owned(),
        })
    }

    fn bare(&self, list: List, name: &str) -> Option<Found> {
        let mut owners = self
            .made_of
            .iter()
            .filter(|(_, catalog)| catalog.has(list, name));
        match (owners.next(), owners.next()) {
            (Some((source, _)), None) => Some(Found {
                source: *source,
                native: name.to_owned(),
            }),
            _ => None,
        }
    }
}

impl Listing {
    /// Adds an entry under a name. The first source in the configuration keeps a name.
    fn add(&mut self, source: usize, entry: &Entry, name: String) {
        if self.by_name.contains_key(&name) {
            return;
        }
        let definition = if name == entry.key {
            entry.definition.clone()
        } else {
            renamed(entry, &name)
        };
        self.definitions.push(definition);
        self.by_name.insert(
            name,
            Found {
                source,
                native: entry.key.clone(),
            },
        );
    }

    /// Gives the list the number that its cursors carry.
    fn seal(&mut self) {
        let mut hasher = DefaultHasher::new();
        for definition in &self.definitions {
            definition.as_str().hash(&mut hasher);
        }
        self.generation = hasher.finish();
    }
}

/// The name under which a scope lists an entry.
fn exposed(list: List, scope: &Scope, source: &SourceId, native: &str) -> String {
    match (scope, list) {
        (Scope::All, List::Tools) => format!("{source}__{native}"),
        (Scope::All, List::Prompts) => format!("{source}/{native}"),
        _ => native.to_owned(),
    }
}

fn renamed(entry: &Entry, name: &str) -> RawJson {
    match entry.definition.object() {
        Some(mut definition) => {
            definition.set("name", RawJson::string(name).as_str().to_owned());
            definition.write()
        }
        None => entry.definition.clone(),
    }
}
