//! The pages of apps: `ui://` URIs that sources list, or that their tools name. A page keeps its URI
//! where one source alone has it; otherwise its source becomes the first segment, because hosts accept
//! only the scheme `ui`.

use std::collections::{HashMap, HashSet};

use super::definition::page_uris;
use super::{NameMap, SourceCatalog, UI_SCHEME};

/// The pages that are known, listed or not.
#[derive(Default)]
pub(super) struct KnownPages {
    sources: HashMap<String, Vec<usize>>,
    /// Sources whose own pages begin with their id.
    use_own_id: HashSet<usize>,
}

impl KnownPages {
    pub(super) fn new(sources: &[SourceCatalog]) -> Self {
        let mut pages = Self::default();
        for (number, source) in sources.iter().enumerate() {
            let listed = source.catalog.resources.iter();
            let listed = listed.map(|entry| entry.key.clone());
            let named = source.catalog.tools.iter();
            let named = named.flat_map(|tool| page_uris(&tool.definition));
            for uri in listed.chain(named) {
                pages.add(number, source, uri);
            }
        }
        pages
    }

    fn add(&mut self, number: usize, source: &SourceCatalog, uri: String) {
        let Some(page) = uri.strip_prefix(UI_SCHEME) else {
            return;
        };
        if first_segment(page) == Some(source.id.as_str()) {
            self.use_own_id.insert(number);
        }
        let holders = self.sources.entry(uri).or_default();
        if !holders.contains(&number) {
            holders.push(number);
        }
    }

    /// Whether a source is known to have this page.
    fn has(&self, source: usize, uri: &str) -> bool {
        let holders = self.sources.get(uri);
        holders.is_some_and(|holders| holders.contains(&source))
    }

    /// The only source that is known to have this page.
    fn only_holder(&self, uri: &str) -> Option<usize> {
        match self.sources.get(uri)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The sources that have pages.
    pub(super) fn holders(&self) -> HashSet<usize> {
        self.sources.values().flatten().copied().collect()
    }
}

impl NameMap {
    /// The source of a page that is not listed under this URI, and its URI there.
    pub(super) fn unlisted_page(&self, uri: &str) -> Option<(usize, String)> {
        let page = uri.strip_prefix(UI_SCHEME).filter(|_| self.is_merged())?;
        let named = first_segment(page).and_then(|id| self.source_named(id));
        let Some(source) = named else {
            let holder = self.pages.only_holder(uri)?;
            return Some((holder, uri.to_owned()));
        };
        let (_, rest) = page.split_once('/')?;
        let unprefixed = format!("{UI_SCHEME}{rest}");
        let is_own = self.pages.has(source, uri)
            || !self.pages.has(source, &unprefixed)
                && (self.pages.use_own_id.contains(&source)
                    || self.matching_template(source, uri).is_some());
        Some((source, if is_own { uri.to_owned() } else { unprefixed }))
    }
}

/// The id in front of the first slash of a page.
pub(super) fn first_segment(page: &str) -> Option<&str> {
    page.split_once('/').map(|(segment, _)| segment)
}
