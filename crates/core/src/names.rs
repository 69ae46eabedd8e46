//! The names of one view, in both directions: under which name each entry of each source is
//! listed, and how a name or URI from a client is resolved.
//!
//! One `NameMap` is built for each view. An entry is only listed under a name that resolves to it,
//! so every listed entry can be called. The order of the configuration decides every collision.
//! Must not know: how an endpoint presents its lists, and how a source is called.

mod conflict;
mod definition;
mod merge;
mod pages;
mod qualified;
mod reserved;
mod resolve;
mod skills;
mod template_index;
#[cfg(test)]
mod tests;
mod unavailable;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

pub(crate) use conflict::NameConflict;
pub(crate) use definition::{page_uris, with_mapped_pages};
pub(crate) use qualified::{UI_SCHEME, qualified_uri, split_qualified};
pub(crate) use resolve::{ResolutionRule, Resolved};

use crate::extensions::{SKILLS, declares_extension};
use crate::uri::scheme_of;
use crate::{Catalog, List, RawJson, SourceId};
use pages::KnownPages;
use qualified::prefixed_page;
use template_index::{IndexedTemplate, TemplateIndex, parse_templates};

/// How tools and prompts are named at the endpoint of all sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By source and native name.
    #[default]
    Prefixed,
    /// By native name. If two are the same, the second is prefixed with its source.
    Native,
}

/// The catalog of one source in a view.
pub(crate) struct SourceCatalog {
    pub(crate) id: SourceId,
    pub(crate) catalog: Arc<Catalog>,
}

impl SourceCatalog {
    /// Whether the source declares an extension.
    pub(crate) fn declares(&self, extension: &str) -> bool {
        let declaration = self.catalog.declaration.as_ref();
        let capabilities = declaration.and_then(|declaration| {
            let members = declaration.object()?;
            members.get("capabilities").map(RawJson::copy_of)
        });
        capabilities.is_some_and(|capabilities| declares_extension(&capabilities, extension))
    }
}

/// The names of everything in a view. Sources are numbered in the order of the view.
pub(crate) struct NameMap {
    sources: Vec<SourceCatalog>,
    /// How entries are named where all sources share one namespace.
    naming: Option<Naming>,
    lists: [NamedList; 4],
    templates: TemplateIndex,
    /// The source of each URI scheme; `None` where several have it.
    schemes: HashMap<String, Option<usize>>,
    pages: KnownPages,
    conflicts: Vec<NameConflict>,
}

/// One list under the names that clients see.
#[derive(Default)]
pub(crate) struct NamedList {
    /// In the order of the sources, then of each source's own list.
    entries: Vec<ListedEntry>,
    by_name: HashMap<Arc<str>, u32>,
}

/// One entry under the name that clients see.
#[derive(Debug)]
pub(crate) struct ListedEntry {
    source: u32,
    /// Its position in the source's own list.
    position: u32,
    pub(crate) name: Arc<str>,
    /// The definition, under that name.
    pub(crate) definition: RawJson,
    idempotent: bool,
    /// Whether only apps call this tool.
    pub(crate) is_app_only: bool,
}

impl ListedEntry {
    pub(crate) fn source(&self) -> usize {
        self.source as usize
    }
}

impl NameMap {
    /// Names the entries of these sources. With `naming` they share one namespace; without it, the
    /// first source keeps its native names.
    pub(crate) fn new(sources: Vec<SourceCatalog>, naming: Option<Naming>) -> Self {
        let mut conflicts = Vec::new();
        let parsed: Vec<_> = sources
            .iter()
            .map(|source| parse_templates(&source.catalog.templates))
            .collect();
        let lists =
            List::ALL.map(|list| merge::merge(list, &sources, &parsed, naming, &mut conflicts));
        let listed = lists[List::Templates as usize].entries.iter();
        let templates = listed.filter_map(|entry| {
            let template = parsed[entry.source()][entry.position as usize]
                .clone()
                .ok()?;
            Some(IndexedTemplate {
                is_native: template.as_str() == &*entry.name,
                template,
                source: entry.source(),
            })
        });
        let templates = TemplateIndex::new(templates.collect());
        let pages = KnownPages::new(&sources);
        let mut names = Self {
            templates,
            schemes: schemes(&sources, &pages),
            sources,
            naming,
            lists,
            pages,
            conflicts,
        };
        names.rewrite_pages();
        names
    }

    /// Rewrites the pages that tools name, so that each leads back to its source.
    fn rewrite_pages(&mut self) {
        if !self.is_merged() {
            return;
        }
        let tools = &self.lists[List::Tools as usize].entries;
        let rewritten: Vec<_> = tools
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| {
                let source = entry.source();
                let definition = definition::with_client_pages(&entry.definition, |uri| {
                    self.client_uri(source, uri)
                })?;
                Some((index, definition))
            })
            .collect();
        for (index, definition) in rewritten {
            self.lists[List::Tools as usize].entries[index].definition = definition;
        }
    }

    pub(crate) fn sources(&self) -> &[SourceCatalog] {
        &self.sources
    }

    pub(crate) fn source_named(&self, id: &str) -> Option<usize> {
        let mut sources = self.sources.iter();
        sources.position(|source| source.id.as_str() == id)
    }

    pub(crate) fn is_merged(&self) -> bool {
        self.naming.is_some()
    }

    pub(crate) fn conflicts(&self) -> &[NameConflict] {
        &self.conflicts
    }

    /// Why entries of a source are not in a list, if any are not.
    pub(crate) fn withheld(&self, list: List, source: &SourceId) -> Option<String> {
        let reasons: Vec<_> = self
            .conflicts
            .iter()
            .filter_map(NameConflict::withheld)
            .filter(|withheld| withheld.list == list && withheld.source == source)
            .map(|withheld| withheld.reason)
            .collect();
        let (count, member) = (reasons.len(), list.member());
        let distinct: Vec<_> = BTreeSet::from_iter(reasons).into_iter().collect();
        (count > 0).then(|| {
            let reasons = distinct.join(", or ");
            format!("{count} of its {member} are not listed: {reasons}")
        })
    }

    /// Every entry of a list, in its order.
    pub(crate) fn entries(&self, list: List) -> &[ListedEntry] {
        &self.lists[list as usize].entries
    }

    /// The entry at a position of a source's own list, if it is listed.
    pub(crate) fn entry_at(
        &self,
        list: List,
        source: usize,
        position: usize,
    ) -> Option<&ListedEntry> {
        let entries = self.entries(list);
        let key = |entry: &ListedEntry| (entry.source(), entry.position as usize);
        let index = entries.binary_search_by_key(&(source, position), key);
        index.ok().map(|index| &entries[index])
    }

    /// The entry that is listed under this name.
    pub(crate) fn entry_named(&self, list: List, name: &str) -> Option<&ListedEntry> {
        let list = &self.lists[list as usize];
        let index = list.by_name.get(name)?;
        list.entries.get(*index as usize)
    }

    /// The client's URI for the source's `uri`; `None` if it is the same.
    pub(crate) fn client_uri(&self, source: usize, uri: &str) -> Option<String> {
        if !self.is_merged() {
            return None;
        }
        let id = &self.sources[source].id;
        if let Some(prefixed) = prefixed_page(id, uri) {
            let leads_back = |candidate: &str| {
                let resolved = self.resource(candidate);
                resolved.is_some_and(|found| found.source == source && found.native == uri)
            };
            return match leads_back(uri) {
                true => None,
                false if leads_back(&prefixed) => Some(prefixed),
                false => Some(qualified_uri(id, uri)),
            };
        }
        if !self.may_read(source, uri) {
            return None;
        }
        let leads_back = match self.resource(uri) {
            Some(resolved) => resolved.source == source,
            // Relative references and web pages are not read through the gateway.
            None => !uri.contains(':') || is_web_url(uri),
        };
        (!leads_back).then(|| qualified_uri(id, uri))
    }

    /// Whether a source may be able to read a URI that it mentions. A source without resources cannot;
    /// one without resources of the scheme `file` names files that clients open themselves.
    fn may_read(&self, source: usize, uri: &str) -> bool {
        let catalog = &self.sources[source].catalog;
        let mut entries = catalog.resources.iter().chain(&catalog.templates);
        match scheme_of(uri) {
            Some("file") => entries.any(|entry| scheme_of(&entry.key) == Some("file")),
            _ => catalog.features.resources || entries.next().is_some(),
        }
    }
}

impl NamedList {
    fn add(&mut self, entry: ListedEntry) {
        let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.by_name.insert(Arc::clone(&entry.name), index);
        self.entries.push(entry);
    }
}

fn schemes(sources: &[SourceCatalog], pages: &KnownPages) -> HashMap<String, Option<usize>> {
    let with_pages = pages.holders();
    let mut schemes = HashMap::<String, Option<usize>>::new();
    for (number, source) in sources.iter().enumerate() {
        let entries = source
            .catalog
            .resources
            .iter()
            .chain(&source.catalog.templates);
        let listed = entries.filter_map(|entry| scheme_of(&entry.key));
        let unlisted = [
            with_pages.contains(&number).then_some("ui"),
            source.declares(SKILLS).then_some("skill"),
        ];
        for scheme in listed.chain(unlisted.into_iter().flatten()) {
            match schemes.get_mut(scheme) {
                Some(only) if *only == Some(number) => {}
                Some(only) => *only = None,
                None => drop(schemes.insert(scheme.to_owned(), Some(number))),
            }
        }
    }
    schemes
}

fn is_web_url(uri: &str) -> bool {
    let scheme = scheme_of(uri).unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}
