//! The merged catalog of a scope: what is listed, under which names, and where each name leads.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Shared;
use super::cursor::Cursor;
use crate::changes::Watched;
use crate::template::Template;
use crate::{CacheScope, Catalog, Entry, Features, List, Object, RawJson, Result, Scope, SourceId};

/// How a URI begins that names its source.
const QUALIFIED: &str = "gateway://";

/// What some hosts take as the name of a tool.
const LONGEST_TOOL_NAME: usize = 64;

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
    templates: Vec<(Template, Found)>,
    /// The one source that this is, where it is one: what it does not list may still be there.
    only: Option<usize>,
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
        let ids: Vec<_> = shared.sources.iter().map(|(id, _)| id.clone()).collect();
        let lists = List::ALL.map(|list| merged(list, scope, &ids, &made_of));
        let templates = lists[List::Templates as usize].by_name.iter();
        let templates = templates
            .filter_map(|(text, found)| Some((Template::parse(text)?, found.clone())))
            .collect();
        let features = match scope {
            Scope::All => Features::ALL,
            Scope::Source(_) => made_of
                .first()
                .map(|(_, one)| one.features)
                .unwrap_or_default(),
        };
        let scopes = made_of.iter().map(|(_, catalog)| catalog.scope);
        let cache_scope = scopes.reduce(CacheScope::and).unwrap_or_default();
        let only = shared.only(scope);
        Self {
            made_of,
            ids,
            lists,
            templates,
            only,
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
            .or_else(|| self.unlisted(name))
    }

    /// A prompt by its listed name, or by its bare name where only one source has it.
    pub(crate) fn prompt(&self, name: &str) -> Option<Found> {
        let listed = self.lists[List::Prompts as usize]
            .by_name
            .get(name)
            .cloned();
        listed
            .or_else(|| self.bare(List::Prompts, name))
            .or_else(|| self.unlisted(name))
    }

    /// A resource: by its qualified URI, by its own, or as an expansion of a template.
    pub(crate) fn resource(&self, uri: &str) -> Option<Found> {
        self.known_resource(uri).or_else(|| self.unlisted(uri))
    }

    fn known_resource(&self, uri: &str) -> Option<Found> {
        let listed = || {
            self.lists[List::Resources as usize]
                .by_name
                .get(uri)
                .cloned()
        };
        self.qualified(uri)
            .or_else(listed)
            .or_else(|| self.expanded(uri))
    }

    /// The template that says most, of those a URI is an expansion of. What lies below an owned URI
    /// is only ever its owner's.
    fn expanded(&self, uri: &str) -> Option<Found> {
        let owner = owner_of(&self.made_of, uri);
        self.templates
            .iter()
            .filter(|(_, found)| owner.is_none_or(|owner| owner == found.source))
            .filter(|(template, _)| template.matches(uri))
            .max_by_key(|(template, found)| {
                (template.literal_len(), std::cmp::Reverse(found.source))
            })
            .map(|(_, found)| Found {
                source: found.source,
                native: uri.to_owned(),
            })
    }

    /// What one source alone may have without listing it. It is asked.
    fn unlisted(&self, name: &str) -> Option<Found> {
        self.only.map(|source| Found {
            source,
            native: name.to_owned(),
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
        let Found { source, native } = self.known_resource(uri)?;
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

    /// `gateway://{source}/{original-uri}`: always accepted, and asked of that source.
    fn qualified(&self, uri: &str) -> Option<Found> {
        let (source, native) = uri.strip_prefix(QUALIFIED)?.split_once('/')?;
        let (source, _) = self
            .made_of
            .iter()
            .find(|(index, _)| self.ids[*index].as_str() == source)?;
        let owner = owner_of(&self.made_of, native);
        let may_answer = owner.is_none_or(|owner| owner == *source);
        may_answer.then(|| Found {
            source: *source,
            native: native.to_owned(),
        })
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

/// One list of all sources, in their order.
fn merged(
    list: List,
    scope: &Scope,
    ids: &[SourceId],
    made_of: &[(usize, Arc<Catalog>)],
) -> Listing {
    let mut listing = Listing::default();
    for (source, catalog) in made_of {
        for entry in catalog.list(list) {
            let owner = match list {
                List::Resources | List::Templates => owner_of(made_of, &entry.key),
                List::Tools | List::Prompts => None,
            };
            // What is another's own is not listed for whoever else claims it.
            if owner.is_none_or(|owner| owner == *source) {
                listing.add(*source, entry, list, scope, &ids[*source]);
            }
        }
    }
    listing.seal();
    listing
}

/// The source that a URI belongs to, whoever lists it.
fn owner_of(made_of: &[(usize, Arc<Catalog>)], uri: &str) -> Option<usize> {
    let owns = |catalog: &Catalog| {
        catalog
            .owned
            .iter()
            .any(|owned| match uri.strip_prefix(owned) {
                Some(rest) => rest.is_empty() || rest.starts_with(['/', '?', '#', '{']),
                None => false,
            })
    };
    made_of
        .iter()
        .find(|(_, catalog)| owns(catalog))
        .map(|(source, _)| *source)
}

impl Listing {
    /// Adds an entry. The first source in the configuration keeps a URI; the next is listed under
    /// one that names it.
    fn add(&mut self, source: usize, entry: &Entry, list: List, scope: &Scope, id: &SourceId) {
        let mut name = exposed(list, scope, id, &entry.key);
        if self.by_name.contains_key(&name) {
            name = format!("{QUALIFIED}{id}/{}", entry.key);
        }
        if self.by_name.contains_key(&name) {
            return;
        }
        let definition = match name == entry.key {
            true => entry.definition.clone(),
            false => renamed(list, entry, &name),
        };
        self.definitions.push(definition);
        let native = entry.key.clone();
        self.by_name.insert(name, Found { source, native });
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
        (Scope::All, List::Tools) => shortened(format!("{source}__{native}")),
        (Scope::All, List::Prompts) => format!("{source}/{native}"),
        _ => native.to_owned(),
    }
}

/// A tool's name of at most 64 characters: a longer one ends in a number made from all of it.
fn shortened(name: String) -> String {
    if name.chars().count() <= LONGEST_TOOL_NAME {
        return name;
    }
    // FNV-1a: the same on every machine and in every version.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let kept: String = name.chars().take(LONGEST_TOOL_NAME - 9).collect();
    format!("{kept}_{:08x}", hash >> 32)
}

fn renamed(list: List, entry: &Entry, name: &str) -> RawJson {
    let member = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    match entry.definition.object() {
        Some(mut definition) => {
            definition.set(member, RawJson::string(name).as_str().to_owned());
            definition.write()
        }
        None => entry.definition.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_stays_its_own() {
        let long = |end: &str| shortened(format!("source__{}{end}", "x".repeat(80)));
        assert_eq!(long("a").len(), LONGEST_TOOL_NAME);
        assert_ne!(long("a"), long("b"));
        assert_eq!(long("a"), long("a"));
        assert_eq!(shortened("s__t".to_owned()), "s__t");
    }
}
