//! A view: everything that one kind of viewer sees at one endpoint. Names come from the `NameMap`;
//! a view decides which of them the endpoint shows, page by page.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::GatewayConfig;
use super::cursor::ListPosition;
use super::exposure::Exposure;
use crate::names::{ListedEntry, NameMap, SourceCatalog};
use crate::source::NamedSource;
use crate::{
    CacheScope, Catalog, CatalogGap, Features, List, Object, RawJson, Scope, SearchIndex, Source,
};

/// The `_meta` member of a list that names incomplete sources, with the reasons.
pub(super) const INCOMPLETE_SOURCES: &str = "dev.tidegate/missing";

/// Names on each side of a position that its cursor identifies: the nearest ones, and before it also some
/// at growing distances.
const ADJACENT_NAMES: usize = 8;
const DISTANT_NAMES: [usize; 12] = [
    16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768,
];

/// What distinguishes the views of the same catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewKey {
    pub(super) scope: Scope,
    /// Whether tools are listed that only apps call.
    pub(super) lists_app_tools: bool,
}

/// A snapshot of everything in a scope.
pub(super) struct View {
    pub(super) names: Arc<NameMap>,
    /// In the order of `names`.
    sources: Vec<Arc<dyn Source>>,
    lists: [ShownList; 4],
    pub(super) features: Features,
    pub(super) cache_scope: CacheScope,
    /// The instructions of the source, at an endpoint for one source.
    pub(super) instructions: Option<String>,
    /// Built by the first search.
    pub(super) index: OnceLock<Arc<SearchIndex>>,
    /// The instructions of the gateway, built by the first discover.
    pub(super) summary: OnceLock<String>,
}

/// What an endpoint shows of a list.
struct ShownList {
    /// Positions in the list of all entries; the other entries are found by searching.
    shown: Vec<u32>,
    /// Identifies the shown names; cursors carry it.
    generation: u64,
}

/// A source that contributes to a list.
pub(super) enum Contribution<'a> {
    Complete(&'a Arc<dyn Source>),
    Incomplete,
}

impl View {
    /// `catalogs` are the catalogs of `sources`, in the same order.
    pub(super) fn new(
        config: &GatewayConfig,
        key: &ViewKey,
        sources: Vec<NamedSource>,
        catalogs: &[Arc<Catalog>],
    ) -> Self {
        let scope = &key.scope;
        let (ids, sources): (Vec<_>, Vec<_>) = sources.into_iter().unzip();
        let parts = ids.into_iter().zip(catalogs.iter().map(Arc::clone));
        let parts = parts.map(|(id, catalog)| SourceCatalog { id, catalog });
        let naming = (*scope == Scope::All).then_some(config.naming);
        let names = NameMap::new(parts.collect(), naming);
        let scopes = names.sources().iter().map(|part| part.catalog.scope);
        Self {
            lists: List::ALL.map(|list| ShownList::new(config, key, &names, list)),
            features: features(scope, names.sources()),
            cache_scope: scopes.reduce(CacheScope::combine).unwrap_or_default(),
            instructions: match (scope, names.sources()) {
                (Scope::Source(_), [only, ..]) => only.catalog.instructions.clone(),
                _ => None,
            },
            names: Arc::new(names),
            sources,
            index: OnceLock::new(),
            summary: OnceLock::new(),
        }
    }

    pub(super) fn is_made_of(&self, catalogs: &[Arc<Catalog>]) -> bool {
        let parts = self.names.sources();
        parts.len() == catalogs.len()
            && std::iter::zip(parts, catalogs)
                .all(|(part, catalog)| Arc::ptr_eq(&part.catalog, catalog))
    }

    pub(super) fn source(&self, number: usize) -> &Arc<dyn Source> {
        &self.sources[number]
    }

    pub(super) fn is_loading(&self) -> bool {
        self.names.sources().iter().any(is_loading)
    }

    /// Whether a source is loading the lists for this kind of viewer.
    pub(super) fn is_preliminary(&self) -> bool {
        let parts = self.names.sources().iter();
        parts.into_iter().any(|part| part.catalog.is_preliminary)
    }

    pub(super) fn is_source_loading(&self, number: usize) -> bool {
        is_loading(&self.names.sources()[number])
    }

    /// Whether a source before this one is loading.
    pub(super) fn is_loading_before(&self, number: usize) -> bool {
        self.names.sources()[..number].iter().any(is_loading)
    }

    pub(super) fn loading_sources(&self) -> impl Iterator<Item = &Arc<dyn Source>> {
        let parts = self.names.sources().iter().zip(&self.sources);
        parts
            .filter(|(part, _)| is_loading(part) || part.catalog.is_preliminary)
            .map(|(_, source)| source)
    }

    /// The position before the entry at an offset.
    fn position(&self, list: List, offset: usize) -> ListPosition {
        let hash_at = |offset| self.shown_name(list, offset).map(name_hash);
        let distances = (1..=ADJACENT_NAMES).chain(DISTANT_NAMES);
        let before = distances.map_while(|distance| hash_at(offset.checked_sub(distance)?));
        let after = (offset..offset + ADJACENT_NAMES).map_while(hash_at);
        ListPosition {
            list,
            generation: self.lists[list as usize].generation,
            offset,
            before: before.collect(),
            after: after.collect(),
        }
    }

    /// The offset of a position that may be one of an earlier list: next to the nearest entry that is
    /// still there. If all of them are gone, entries are repeated rather than skipped.
    pub(super) fn offset_of(&self, position: &ListPosition) -> usize {
        let list = &self.lists[position.list as usize];
        if list.generation == position.generation {
            return position.offset;
        }
        let hashes = (0..list.shown.len()).map(|offset| {
            let name = self.shown_name(position.list, offset).unwrap_or_default();
            (name_hash(name), offset)
        });
        let offsets: HashMap<_, _> = hashes.collect();
        let find = |hash: &u64| offsets.get(hash).copied();
        let (adjacent, distant) = position
            .before
            .split_at(position.before.len().min(ADJACENT_NAMES));
        let after = |offset| offset + 1;
        adjacent
            .iter()
            .find_map(find)
            .map(after)
            .or_else(|| position.after.iter().find_map(find))
            .or_else(|| distant.iter().find_map(find).map(after))
            .unwrap_or(0)
    }

    fn shown_name(&self, list: List, offset: usize) -> Option<&str> {
        let position = *self.lists[list as usize].shown.get(offset)?;
        Some(&self.names.entries(list)[position as usize].name)
    }

    /// One page of a list as the result of a list request, and the position of the next page.
    pub(super) fn page(
        &self,
        list: List,
        offset: usize,
        size: usize,
    ) -> (Object<'_>, Option<ListPosition>) {
        let shown = &self.lists[list as usize].shown;
        let rest = shown.get(offset..).unwrap_or_default();
        let page = &rest[..size.min(rest.len())];
        let mut result = Object::default();
        result.set(list.member(), self.definitions(list, page));
        if let Some(missing) = self.missing(list) {
            let mut meta = Object::default();
            meta.set(INCOMPLETE_SOURCES, missing.as_str().to_owned());
            result.set("_meta", meta.write().as_str().to_owned());
        }
        let has_more = page.len() < rest.len();
        let next = has_more.then(|| self.position(list, offset + page.len()));
        (result, next)
    }

    /// A JSON array of definitions.
    fn definitions(&self, list: List, positions: &[u32]) -> String {
        let entries = self.names.entries(list);
        let definitions = positions.iter().map(|position| {
            let entry = &entries[*position as usize];
            entry.definition.as_str()
        });
        let length: usize = definitions.clone().map(|text| text.len() + 1).sum();
        let mut array = String::with_capacity(length + 2);
        array.push('[');
        for (index, definition) in definitions.enumerate() {
            if index > 0 {
                array.push(',');
            }
            array.push_str(definition);
        }
        array.push(']');
        array
    }

    /// The sources that a list is made of.
    pub(super) fn contributions(&self, list: List) -> impl Iterator<Item = Contribution<'_>> {
        let parts = self.names.sources().iter().zip(&self.sources);
        parts.filter_map(move |(part, source)| {
            if part.gap_in(list).is_some() {
                return Some(Contribution::Incomplete);
            }
            let contributes = part.catalog.features.has(list);
            contributes.then_some(Contribution::Complete(source))
        })
    }

    /// The sources whose list is incomplete, with the reasons.
    fn missing(&self, list: List) -> Option<RawJson> {
        let parts = self.names.sources().iter();
        let gaps = parts.filter_map(|part| {
            let reasons = [part.gap_in(list), self.names.withheld(list, &part.id)];
            let reasons: Vec<_> = reasons.into_iter().flatten().collect();
            let is_complete = reasons.is_empty();
            (!is_complete).then(|| (part.id.to_string(), reasons.join("; ").into()))
        });
        let gaps: serde_json::Map<_, _> = gaps.collect();
        (!gaps.is_empty()).then(|| serde_json::Value::Object(gaps).into())
    }
}

impl ShownList {
    fn new(config: &GatewayConfig, key: &ViewKey, names: &NameMap, list: List) -> Self {
        let exposure = match list {
            List::Tools => &config.endpoints.of(&key.scope).exposure,
            List::Prompts | List::Resources | List::Templates => &Exposure::Direct,
        };
        let entries = names.entries(list);
        let mut shown = exposure.shown(entries, names.sources());
        shown.retain(|position| key.lists_app_tools || !entries[*position as usize].is_app_only);
        let generation = generation(shown.iter().map(|position| &entries[*position as usize]));
        Self { shown, generation }
    }
}

/// Identifies a name in cursors.
fn name_hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A hash of the names: an offset stays valid while they are the same.
fn generation<'a>(entries: impl Iterator<Item = &'a ListedEntry>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for entry in entries {
        entry.name.hash(&mut hasher);
    }
    hasher.finish()
}

fn features(scope: &Scope, parts: &[SourceCatalog]) -> Features {
    match scope {
        Scope::All => Features {
            tasks: parts.iter().any(|part| part.catalog.features.tasks),
            ..Features::ALL
        },
        Scope::Source(_) => {
            let source = parts.first().map(|part| part.catalog.features);
            let gateway_tools = Features {
                tools: parts.iter().any(|part| part.id.is_gateway()),
                ..Features::default()
            };
            source.unwrap_or_default() | gateway_tools
        }
    }
}

fn is_loading(part: &SourceCatalog) -> bool {
    part.catalog.gap == Some(CatalogGap::Loading)
}
