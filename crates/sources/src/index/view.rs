//! The index as one caller sees it, with the state shared between calls.

use std::sync::Arc;

use tidegate_core::{CacheScope, List, SearchIndex, Viewer};

use super::cache::TextCache;
use super::config::{IndexConfig, IndexPart};
use super::page_bounds::PageBounds;
use super::recent_changes::{RecentChange, RecentChanges, viewer_class};
use super::token_costs::TokenCosts;
use crate::declarations::ResourceContents;

/// State that is shared between calls.
pub(super) struct IndexState {
    pub(super) cache: TextCache,
    pub(super) token_costs: TokenCosts,
    pub(super) page_bounds: PageBounds,
    pub(super) recent_changes: RecentChanges,
    /// Whether texts may name these parts.
    pub(super) exposes_full: bool,
    pub(super) exposes_elements: bool,
}

impl IndexState {
    pub(super) fn new(config: &IndexConfig) -> Self {
        Self {
            exposes_full: config.exposes(IndexPart::Full),
            exposes_elements: config.exposes(IndexPart::Elements),
            cache: TextCache::new(config.cache_ttl),
            token_costs: TokenCosts::default(),
            page_bounds: PageBounds::default(),
            recent_changes: RecentChanges::default(),
        }
    }
}

/// A snapshot of the index for one caller.
pub(super) struct IndexView {
    pub(super) state: Arc<IndexState>,
    pub(super) index: Arc<SearchIndex>,
    /// Recent changes differ between viewer classes, so cached texts do too.
    viewer_class: u64,
    /// Newest first.
    pub(super) recent_changes: Arc<[RecentChange]>,
}

impl IndexView {
    pub(super) fn new(
        state: &Arc<IndexState>,
        index: Arc<SearchIndex>,
        viewer: &Viewer<'_>,
    ) -> Self {
        Self {
            recent_changes: state.recent_changes.update(viewer, &index),
            viewer_class: viewer_class(viewer),
            state: Arc::clone(state),
            index,
        }
    }

    /// The cached text for this URI and index, or a newly rendered one.
    pub(super) fn cached(
        &self,
        uri: &str,
        render: impl FnOnce(&Self) -> String,
    ) -> ResourceContents {
        let key = (&self.index, self.viewer_class);
        let (text, ttl) = self.state.cache.get(uri, key, || render(self));
        ResourceContents::text(text.as_ref()).with_cache_hint(ttl, CacheScope::Private)
    }

    pub(super) fn count(&self, list: List) -> usize {
        self.index.list(list).count()
    }
}
