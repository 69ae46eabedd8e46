//! The merged catalog of a scope: what is listed, under which names, and where each name leads.
//!
//! `listing` gives out the names, `resolve` reads them back, `absent` says whose are not known.

mod absent;
mod merged_list;
mod resolve;

use std::sync::Arc;

use super::Shared;
use super::cursor::Place;
use crate::UriTemplate;
use crate::{CacheScope, Catalog, CatalogGap, Features, List, Object, RawJson, Scope, SourceId};
use merged_list::Listing;
pub(crate) use merged_list::{Finding, Listed, moved_page};
pub(crate) use resolve::{Found, Rule};

/// How a URI begins that names its source.
pub(crate) const QUALIFIED: &str = "gateway://";

/// The scheme of pages that clients show: it stays, and the source comes after it.
pub(crate) const PAGES: &str = "ui://";

/// Where a list says what is missing from it, by source.
const MISSING: &str = "dev.tidegate/missing";

/// How tools and prompts are called where all sources are seen at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By source and name.
    #[default]
    Prefixed,
    /// By their own names; of two with the same, the second keeps its source's.
    Native,
}

/// A snapshot of everything in a scope.
pub(crate) struct View {
    parts: Vec<Part>,
    lists: [Listing; 4],
    templates: Vec<(UriTemplate, Found)>,
    /// The one source that this is, where it is one: what it does not list may still be there.
    only: Option<usize>,
    /// What is odd about the names, for those who run the gateway.
    pub(crate) name_conflicts: Vec<Finding>,
    pub(crate) features: Features,
    pub(crate) cache_scope: CacheScope,
    /// What a source says of itself, where it is the only one.
    pub(crate) instructions: Option<String>,
}

/// A source in a list.
pub(crate) enum InList {
    /// All that it lists, by its number.
    Wholly(usize),
    NotWholly,
}

/// What one source has in the view.
pub(crate) struct Part {
    pub(crate) source: usize,
    pub(crate) id: SourceId,
    pub(crate) catalog: Arc<Catalog>,
}

impl View {
    pub(super) fn new(shared: &Shared, scope: &Scope, made_of: Vec<(usize, Arc<Catalog>)>) -> Self {
        let part = |(source, catalog)| Part {
            source,
            id: shared.sources[source].0.clone(),
            catalog,
        };
        let parts: Vec<_> = made_of.into_iter().map(part).collect();
        let mut name_conflicts = Vec::new();
        let config = &shared.config;
        let lists =
            List::ALL.map(|list| Listing::new(list, scope, config, &parts, &mut name_conflicts));
        let templates = lists[List::Templates as usize].entries();
        let templates = templates
            .filter_map(|(text, found)| Some((UriTemplate::parse(text).ok()?, found.clone())))
            .collect();
        let first = parts.first().map(|part| &part.catalog);
        let own_tools = Features {
            tools: parts.iter().any(|part| part.id == SourceId::gateway()),
            ..Features::default()
        };
        let (features, instructions) = match scope {
            Scope::All => (
                Features {
                    tasks: parts.iter().any(|part| part.catalog.features.tasks),
                    ..Features::ALL
                },
                None,
            ),
            Scope::Source(_) => (
                first.map(|one| one.features).unwrap_or_default() | own_tools,
                first.and_then(|one| one.instructions.clone()),
            ),
        };
        let scopes = parts.iter().map(|part| part.catalog.scope);
        let cache_scope = scopes.reduce(CacheScope::combine).unwrap_or_default();
        Self {
            parts,
            lists,
            templates,
            only: shared.only(scope),
            name_conflicts,
            features,
            cache_scope,
            instructions,
        }
    }

    pub(crate) fn is_made_of(&self, snapshots: &[(usize, Arc<Catalog>)]) -> bool {
        self.parts.len() == snapshots.len()
            && std::iter::zip(&self.parts, snapshots).all(|(ours, theirs)| {
                ours.source == theirs.0 && Arc::ptr_eq(&ours.catalog, &theirs.1)
            })
    }

    /// The sources whose catalog is still on its way.
    pub(crate) fn coming(&self) -> impl Iterator<Item = usize> {
        let coming = |part: &&Part| part.catalog.gap == Some(CatalogGap::Loading);
        self.parts.iter().filter(coming).map(|part| part.source)
    }

    /// Where a page of a list begins and ends.
    pub(crate) fn place(&self, list: List, offset: usize) -> Place {
        Place {
            list,
            generation: self.lists[list as usize].generation,
            offset,
        }
    }

    /// One page of a list as the result of a list request, and where the next one begins.
    pub(crate) fn page(
        &self,
        list: List,
        start: usize,
        size: usize,
    ) -> (Object<'_>, Option<Place>) {
        let rest = self.lists[list as usize].from(start);
        let page = rest.clone().take(size);
        let length = page.len();
        let mut entries = String::with_capacity(
            page.clone()
                .map(|one| one.as_str().len() + 1)
                .sum::<usize>()
                + 2,
        );
        entries.push('[');
        for (index, definition) in page.enumerate() {
            if index > 0 {
                entries.push(',');
            }
            entries.push_str(definition.as_str());
        }
        entries.push(']');
        let mut result = Object::default();
        result.set(list.member(), entries);
        if let Some(missing) = self.missing(list) {
            let mut meta = Object::default();
            meta.set(MISSING, missing.as_str().to_owned());
            result.set("_meta", meta.write().as_str().to_owned());
        }
        let more = length < rest.len();
        (result, more.then(|| self.place(list, start + length)))
    }

    /// Every entry of a list, also those that are found by searching alone.
    pub(crate) fn all(&self, list: List) -> &[Listed] {
        self.lists[list as usize].all()
    }

    /// What a part has at a place of its own list, if it is listed.
    pub(crate) fn listed_at(&self, list: List, part: usize, at: usize) -> Option<&Listed> {
        self.lists[list as usize].at(part, at)
    }

    /// An entry by the name under which it is listed.
    pub(crate) fn listed_as(&self, list: List, name: &str) -> Option<&Listed> {
        let listing = &self.lists[list as usize];
        let found = listing.get(name)?;
        let part = self.parts.iter().position(|one| one.source == found.source);
        listing.at(part?, found.at?)
    }

    /// The sources that a list is made of.
    pub(crate) fn in_list(&self, list: List) -> impl Iterator<Item = InList> {
        self.parts.iter().filter_map(move |part| {
            let is_whole = part.gap(list).is_none();
            match is_whole {
                false => Some(InList::NotWholly),
                true => part.has(list).then_some(InList::Wholly(part.source)),
            }
        })
    }

    /// Which sources are not in a list, or not wholly, and why.
    fn missing(&self, list: List) -> Option<RawJson> {
        let gaps = self.parts.iter();
        let gaps = gaps.filter_map(|part| Some((part.id.to_string(), part.gap(list)?.into())));
        let gaps: serde_json::Map<_, _> = gaps.collect();
        (!gaps.is_empty()).then(|| serde_json::Value::Object(gaps).into())
    }
}
