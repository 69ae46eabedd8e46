//! Resolves names and URIs from clients.

use super::definition::is_idempotent;
use super::qualified::{named_source, owner_of};
use super::reserved::{is_reserved_uri, name_owner, uri_claim};
use super::{NameMap, split_qualified};
use crate::changes::SubscribedResource;
use crate::uri::scheme_of;
use crate::{List, RawJson, UriTemplate};

/// The result of resolving a name: a source of the view, and the native name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) source: usize,
    pub(crate) native: String,
    /// Its position in the source's own list, if it is listed.
    position: Option<usize>,
    /// Whether the call is idempotent.
    pub(crate) idempotent: bool,
}

impl Resolved {
    fn resource(source: usize, native: impl Into<String>) -> Self {
        Self {
            source,
            native: native.into(),
            position: None,
            idempotent: true,
        }
    }
}

/// The rule by which a URI was resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResolutionRule {
    /// The URI names its source.
    Qualified,
    /// A built-in source owns the URI.
    Owned,
    /// The source lists it.
    Listed,
    /// A page of an app that names the source, or that only tools of this source name.
    Page,
    /// It is below the folder of a skill that the source lists.
    Skill,
    /// It matches this template of the source; if several match, the one with the most literal
    /// characters.
    Template(String),
    /// Only this source has URIs of its scheme.
    Scheme,
    /// The endpoint has only this source.
    OnlySource,
}

impl NameMap {
    /// A tool by its listed name, as `source__tool` or `source.tool`, or by its native name if only
    /// one source has it.
    pub(crate) fn tool(&self, name: &str) -> Option<Resolved> {
        self.listed(List::Tools, name)
            .or_else(|| self.prefixed(List::Tools, name, "__"))
            .or_else(|| self.prefixed(List::Tools, name, "."))
            .or_else(|| self.native(List::Tools, name))
            .or_else(|| self.unlisted(name))
    }

    /// The tool that an app calls, by the page of the app: the app's own server comes first.
    pub(crate) fn tool_of_app(&self, page: &str, name: &str) -> Option<Resolved> {
        let app = self.resource(page)?;
        self.native_at(app.source, List::Tools, name)
    }

    /// A prompt by its listed name, as `source/prompt`, or by its native name if only one source has
    /// it.
    pub(crate) fn prompt(&self, name: &str) -> Option<Resolved> {
        self.listed(List::Prompts, name)
            .or_else(|| self.prefixed(List::Prompts, name, "/"))
            .or_else(|| self.native(List::Prompts, name))
            .or_else(|| self.unlisted(name))
    }

    /// The source of a tool by its listed name or with its source, and whether the name begins with
    /// the source.
    pub(crate) fn known_tool(&self, name: &str) -> Option<(usize, bool)> {
        self.known_entry(List::Tools, name, &["__", "."])
    }

    /// Like [`known_tool`](Self::known_tool), for a prompt.
    pub(crate) fn known_prompt(&self, name: &str) -> Option<(usize, bool)> {
        self.known_entry(List::Prompts, name, &["/"])
    }

    fn known_entry(&self, list: List, name: &str, dividers: &[&str]) -> Option<(usize, bool)> {
        let mut dividers = dividers.iter();
        let prefixed = dividers.find_map(|divider| self.prefixed(list, name, divider));
        match (self.listed(list, name), prefixed) {
            (Some(listed), Some(prefixed)) => {
                Some((listed.source, listed.source == prefixed.source))
            }
            (Some(listed), None) => Some((listed.source, false)),
            (None, Some(prefixed)) => Some((prefixed.source, true)),
            (None, None) => None,
        }
    }

    /// The source of a resource that is listed, owned or qualified, and whether no other source can
    /// have it.
    pub(crate) fn listed_or_owned_resource(&self, uri: &str) -> Option<(usize, bool)> {
        let (resolved, rule) = self.known_resource(uri)?;
        match rule {
            ResolutionRule::Qualified | ResolutionRule::Owned => Some((resolved.source, true)),
            ResolutionRule::Listed => Some((
                resolved.source,
                owner_of(&self.sources, uri) == Some(resolved.source),
            )),
            ResolutionRule::Page
            | ResolutionRule::Skill
            | ResolutionRule::Template(_)
            | ResolutionRule::Scheme
            | ResolutionRule::OnlySource => None,
        }
    }

    pub(crate) fn resource(&self, uri: &str) -> Option<Resolved> {
        self.resource_with_rule(uri).map(|(resolved, _)| resolved)
    }

    /// A resource, and the rule that found it. The order of the configuration decides, never the
    /// order of arrival.
    pub(crate) fn resource_with_rule(&self, uri: &str) -> Option<(Resolved, ResolutionRule)> {
        let by_scheme = || Some((self.by_scheme(uri)?, ResolutionRule::Scheme));
        let only_source = || {
            let mut resolved = self.unlisted(uri)?;
            resolved.idempotent = true;
            Some((resolved, ResolutionRule::OnlySource))
        };
        let known = self.known_resource(uri);
        if known.is_none() && is_reserved_uri(self.naming, uri) {
            return None;
        }
        known.or_else(by_scheme).or_else(only_source)
    }

    /// A resource that a source lists, owns or has a template for.
    fn known_resource(&self, uri: &str) -> Option<(Resolved, ResolutionRule)> {
        if let Some(resolved) = self.qualified(uri) {
            return Some((resolved, ResolutionRule::Qualified));
        }
        if let Some(resolved) = self.listed(List::Resources, uri) {
            return Some((resolved, ResolutionRule::Listed));
        }
        if let Some((source, native)) = self.unlisted_page(uri) {
            return Some((Resolved::resource(source, native), ResolutionRule::Page));
        }
        match owner_of(&self.sources, uri) {
            Some(owner) => Some((Resolved::resource(owner, uri), ResolutionRule::Owned)),
            None if is_reserved_uri(self.naming, uri) => None,
            None => self.by_template(uri).or_else(|| {
                let source = self.by_skill(uri)?;
                Some((Resolved::resource(source, uri), ResolutionRule::Skill))
            }),
        }
    }

    pub(crate) fn template(&self, text: &str) -> Option<Resolved> {
        let listed = self.listed(List::Templates, text);
        listed.or_else(|| self.qualified(text))
    }

    fn listed(&self, list: List, name: &str) -> Option<Resolved> {
        let entry = self.entry_named(list, name)?;
        let position = entry.position as usize;
        let native = &self.sources[entry.source()].catalog.list(list)[position].key;
        Some(Resolved {
            source: entry.source(),
            native: native.clone(),
            position: Some(position),
            idempotent: entry.idempotent,
        })
    }

    /// A name that begins with its source.
    fn prefixed(&self, list: List, name: &str, divider: &str) -> Option<Resolved> {
        let (source, native) = name.split_once(divider)?;
        self.native_at(self.source_named(source)?, list, native)
    }

    /// A native name that only one source has, and that does not read as the name of another source.
    fn native(&self, list: List, name: &str) -> Option<Resolved> {
        let sources = 0..self.sources.len();
        let sources = sources
            .filter(|number| name_owner(&self.sources, self.naming, list, *number, name).is_none());
        let mut resolved = sources.filter_map(|source| self.native_at(source, list, name));
        match (resolved.next(), resolved.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    fn native_at(&self, source: usize, list: List, native: &str) -> Option<Resolved> {
        let catalog = &self.sources[source].catalog;
        let position = catalog.position(list, native)?;
        let definition = &catalog.list(list)[position].definition;
        Some(Resolved {
            source,
            native: native.to_owned(),
            position: Some(position),
            idempotent: list != List::Tools || is_idempotent(definition),
        })
    }

    /// An unlisted resource of the only source of an endpoint.
    fn unlisted(&self, name: &str) -> Option<Resolved> {
        let only = self.only_source()?;
        Some(Resolved {
            idempotent: false,
            ..Resolved::resource(only, name)
        })
    }

    /// The source of an endpoint for one source.
    pub(crate) fn only_source(&self) -> Option<usize> {
        let first = self.sources.first().filter(|_| !self.is_merged())?;
        (!first.id.is_gateway()).then_some(0)
    }

    /// `gateway://{source}/{uri}`, unless that URI is owned by another source or reserved.
    fn qualified(&self, uri: &str) -> Option<Resolved> {
        let (source, native) = named_source(&self.sources, uri)?;
        let may_serve = uri_claim(&self.sources, self.naming, source, native).is_none();
        may_serve.then(|| Resolved::resource(source, native))
    }

    fn by_template(&self, uri: &str) -> Option<(Resolved, ResolutionRule)> {
        let best = self.templates.best_match(uri)?;
        let rule = ResolutionRule::Template(best.template.to_string());
        Some((Resolved::resource(best.source, uri), rule))
    }

    /// The template of a source that matches a URI.
    pub(crate) fn matching_template(&self, source: usize, uri: &str) -> Option<&UriTemplate> {
        self.templates.match_of(source, uri)
    }

    /// The only source with URIs of this scheme. A qualified URI has no other source than its own.
    fn by_scheme(&self, uri: &str) -> Option<Resolved> {
        let scheme = scheme_of(uri).filter(|_| split_qualified(uri).is_none())?;
        let source = (*self.schemes.get(scheme)?)?;
        Some(Resolved::resource(source, uri))
    }

    /// The definition of an entry, as its source wrote it.
    pub(crate) fn definition(&self, list: List, resolved: &Resolved) -> Option<&RawJson> {
        let entries = self.sources[resolved.source].catalog.list(list);
        Some(&entries.get(resolved.position?)?.definition)
    }

    /// The listed names of all entries with this native name.
    pub(crate) fn names_of_native(&self, list: List, native: &str) -> Vec<&str> {
        let sources = self.sources.iter().enumerate();
        let names = sources.filter_map(|(number, source)| {
            let position = source.catalog.position(list, native)?;
            Some(&*self.entry_at(list, number, position)?.name)
        });
        names.collect()
    }

    /// The resource to subscribe to, if its source supports subscriptions.
    pub(crate) fn subscribable(&self, uri: &str) -> Option<SubscribedResource> {
        let resolved = self.resource(uri)?;
        let source = &self.sources[resolved.source];
        let supported = source.catalog.features.subscribe;
        supported.then(|| SubscribedResource {
            source: source.id.clone(),
            native: resolved.native,
            requested: uri.to_owned(),
        })
    }
}
