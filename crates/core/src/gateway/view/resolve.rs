//! Where a name or a URI leads, and by which rule.

use super::{PAGES, Part, QUALIFIED, View};
use crate::changes::{Watched, covering_uris};
use crate::{List, RawJson};

/// What a name leads to: a source, and the name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) source: usize,
    pub(crate) native: String,
    /// Its place in the source's own list, where it is listed.
    pub(crate) at: Option<usize>,
    /// Whether asking twice does no more than asking once.
    pub(crate) idempotent: bool,
}

impl Found {
    fn resource(source: usize, native: &str) -> Self {
        Self {
            source,
            native: native.to_owned(),
            at: None,
            idempotent: true,
        }
    }
}

/// Why a URI leads where it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It names its source.
    Qualified,
    /// A built-in source owns all of it.
    Owned,
    /// It is in the source's list.
    Listed,
    /// It fits a template; of several, the one that says most.
    Template(String),
    /// Only this source has URIs of its scheme.
    Scheme,
    /// This is the only source here, and it is asked.
    Asked,
}

impl View {
    /// A tool by its listed name, with its source's prefix, as `source.tool`, or by its bare name
    /// where only one source has it.
    pub(crate) fn tool(&self, name: &str) -> Option<Found> {
        let listed = self.lists[List::Tools as usize].get(name).cloned();
        listed
            .or_else(|| self.divided(List::Tools, name, "__"))
            .or_else(|| self.divided(List::Tools, name, "."))
            .or_else(|| self.bare(List::Tools, name))
            .or_else(|| self.unlisted(name))
    }

    /// A prompt by its listed name, with its source's prefix, or by its bare name where only one
    /// source has it.
    pub(crate) fn prompt(&self, name: &str) -> Option<Found> {
        let listed = self.lists[List::Prompts as usize].get(name).cloned();
        listed
            .or_else(|| self.divided(List::Prompts, name, "/"))
            .or_else(|| self.bare(List::Prompts, name))
            .or_else(|| self.unlisted(name))
    }

    pub(crate) fn resource(&self, uri: &str) -> Option<Found> {
        self.explained(uri).map(|(found, _)| found)
    }

    /// A resource, and the rule by which it is found. Configuration order, never the order of
    /// arrival, decides.
    pub(crate) fn explained(&self, uri: &str) -> Option<(Found, Rule)> {
        let by_scheme = || Some((self.of_scheme(uri)?, Rule::Scheme));
        let asked = || {
            let mut found = self.unlisted(uri)?;
            found.idempotent = true;
            Some((found, Rule::Asked))
        };
        self.known(uri).or_else(by_scheme).or_else(asked)
    }

    /// What is found without asking anyone.
    fn known(&self, uri: &str) -> Option<(Found, Rule)> {
        if let Some(found) = self.qualified(uri).or_else(|| self.ui_page(uri)) {
            return Some((found, Rule::Qualified));
        }
        let listed = self.lists[List::Resources as usize].get(uri);
        match (owner_of(&self.parts, uri), listed) {
            (_, Some(listed)) => Some((listed.clone(), Rule::Listed)),
            (Some(owner), None) => Some((Found::resource(owner.source, uri), Rule::Owned)),
            (None, None) => self.expanded(uri),
        }
    }

    /// The template that says most, of those a URI is an expansion of.
    fn expanded(&self, uri: &str) -> Option<(Found, Rule)> {
        let fitting = self.fitting(uri);
        let best =
            fitting.max_by_key(|(literal, found)| (*literal, std::cmp::Reverse(found.source)));
        best.map(|(_, found)| {
            let rule = Rule::Template(found.native.clone());
            (Found::resource(found.source, uri), rule)
        })
    }

    /// The templates that a URI is an expansion of, and how much of each is fixed.
    pub(crate) fn fitting<'a>(&'a self, uri: &'a str) -> impl Iterator<Item = (usize, &'a Found)> {
        let fits = self.templates.iter().filter(|(one, _)| one.matches(uri));
        fits.map(|(template, found)| (template.literal_len(), found))
    }

    /// The only source that has URIs of this scheme.
    fn of_scheme(&self, uri: &str) -> Option<Found> {
        // One that names its source is that source's, or nobody's.
        let scheme = scheme_of(uri).filter(|_| !uri.starts_with(QUALIFIED))?;
        let has_one = |part: &&Part| {
            let lists = [List::Resources, List::Templates];
            let mut keys = lists.iter().flat_map(|list| part.catalog.list(*list));
            keys.any(|entry| scheme_of(&entry.key) == Some(scheme))
        };
        let mut sources = self.parts.iter().filter(has_one);
        match (sources.next(), sources.next()) {
            (Some(only), None) => Some(Found::resource(only.source, uri)),
            _ => None,
        }
    }

    /// What one source alone may have without listing it. It is asked.
    fn unlisted(&self, name: &str) -> Option<Found> {
        self.only.map(|source| Found {
            source,
            native: name.to_owned(),
            at: None,
            idempotent: false,
        })
    }

    pub(crate) fn template(&self, text: &str) -> Option<Found> {
        let listed = self.lists[List::Templates as usize].get(text).cloned();
        listed.or_else(|| self.qualified(text))
    }

    /// The definition of what was found, as its source wrote it.
    pub(crate) fn definition(&self, list: List, found: &Found) -> Option<&RawJson> {
        let part = self.part(found.source)?;
        let entry = part.catalog.list(list).get(found.at?)?;
        Some(&entry.definition)
    }

    /// Where to hear of a resource's updates, if its source tells of them.
    pub(crate) fn watched(&self, uri: &str) -> Option<Watched> {
        let (Found { source, native, .. }, _) = self.known(uri)?;
        let part = self.part(source)?;
        let tells = part.catalog.features.subscribe && self.may_have(part, &native);
        tells.then(|| Watched {
            source,
            native,
            spelled: uri.to_owned(),
        })
    }

    /// Whether there can be something at a URI or below it. Of its own URIs a source has what it
    /// lists: what is not listed for someone is not there for them.
    fn may_have(&self, part: &Part, uri: &str) -> bool {
        let owner = owner_of(&self.parts, uri);
        if owner.is_none_or(|owner| owner.source != part.source) {
            return true;
        }
        let lists = [List::Resources, List::Templates];
        let mut listed = lists.iter().flat_map(|list| part.catalog.list(*list));
        listed.any(|entry| covering_uris(&entry.key).any(|above| above == uri))
            || self
                .fitting(uri)
                .any(|(_, found)| found.source == part.source)
    }

    /// `gateway://{source}/{original-uri}`: always accepted, and asked of that source.
    fn qualified(&self, uri: &str) -> Option<Found> {
        let (source, native) = uri.strip_prefix(QUALIFIED)?.split_once('/')?;
        let part = self.named(source)?;
        let owner = owner_of(&self.parts, native);
        let may_answer = owner.is_none_or(|owner| owner.source == part.source);
        may_answer.then(|| Found::resource(part.source, native))
    }

    /// `ui://{source}/{page}`, where all sources are seen at once.
    fn ui_page(&self, uri: &str) -> Option<Found> {
        if self.only.is_some() {
            return None;
        }
        let (source, page) = uri.strip_prefix(PAGES)?.split_once('/')?;
        let part = self.named(source)?;
        Some(Found::resource(part.source, &format!("{PAGES}{page}")))
    }

    /// A name that says its source before a divider.
    fn divided(&self, list: List, name: &str, divider: &str) -> Option<Found> {
        let (source, native) = name.split_once(divider)?;
        self.at(self.named(source)?, list, native)
    }

    fn bare(&self, list: List, name: &str) -> Option<Found> {
        let mut found = self
            .parts
            .iter()
            .filter_map(|part| self.at(part, list, name));
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The listed names of all that have this bare name.
    pub(crate) fn namesakes(&self, list: List, name: &str) -> Vec<&str> {
        let parts = self.parts.iter().enumerate();
        let found = parts.filter_map(|(part, one)| {
            let entries = one.catalog.list(list);
            let at = entries.iter().position(|entry| entry.key == name)?;
            Some(self.listed_at(list, part, at)?.name.as_str())
        });
        found.collect()
    }

    fn at(&self, part: &Part, list: List, native: &str) -> Option<Found> {
        let entries = part.catalog.list(list);
        let at = entries.iter().position(|entry| entry.key == native)?;
        Some(Found {
            source: part.source,
            native: native.to_owned(),
            at: Some(at),
            idempotent: list != List::Tools
                || super::merged_list::is_idempotent(&entries[at].definition),
        })
    }

    pub(crate) fn part(&self, source: usize) -> Option<&Part> {
        self.parts.iter().find(|part| part.source == source)
    }

    fn named(&self, source: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.id.as_str() == source)
    }

    /// The names in a list.
    pub(crate) fn listed(&self, list: List) -> impl Iterator<Item = &str> {
        self.lists[list as usize].entries().map(|(name, _)| name)
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// The source that a URI belongs to, whoever lists it.
pub(super) fn owner_of<'a>(parts: &'a [Part], uri: &str) -> Option<&'a Part> {
    // A scheme is the same in capitals; nobody gets past an owner by shouting.
    let below = |owned: &str| {
        let head = uri.get(..owned.len());
        let rest = uri.get(owned.len()..).unwrap_or_default();
        head.is_some_and(|head| head.eq_ignore_ascii_case(owned))
            && (rest.is_empty() || rest.starts_with(['/', '?', '#', '{']))
    };
    parts
        .iter()
        .find(|part| part.catalog.owned.iter().any(|owned| below(owned)))
}

/// The part before the colon, where it is a scheme.
fn scheme_of(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(fits);
    is_scheme.then_some(scheme)
}
