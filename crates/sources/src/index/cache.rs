//! Rendered texts, cached until the index changes or their lifetime ends (S3.9, S3.10, X21).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{GaugeValue, SearchIndex};

/// Enough for each text and viewer class in use.
const MAX_ENTRIES: usize = 64;

pub(super) struct TextCache {
    ttl: Duration,
    entries: Mutex<Vec<CachedText>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct CachedText {
    uri: String,
    index: Weak<SearchIndex>,
    viewer_class: u64,
    text: Arc<str>,
    rendered_at: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CacheStats {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) entries: usize,
    pub(super) ttl: Duration,
}

/// The index that a text is rendered from, and the viewer class.
type TextKey<'a> = (&'a Arc<SearchIndex>, u64);

impl TextCache {
    pub(super) fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            entries: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The text, and its remaining lifetime.
    pub(super) fn get(
        &self,
        uri: &str,
        key: TextKey<'_>,
        render: impl FnOnce() -> String,
    ) -> (Arc<str>, Duration) {
        if let Some(cached) = self.find(uri, key) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return cached;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let text: Arc<str> = render().into();
        let mut entries = self.lock();
        let is_current = |entry: &CachedText| entry.rendered_at.elapsed() < self.ttl;
        entries.retain(|entry| is_current(entry) && !entry.is_for(uri, key));
        if entries.len() == MAX_ENTRIES {
            entries.remove(0);
        }
        if !self.ttl.is_zero() {
            entries.push(CachedText {
                uri: uri.to_owned(),
                index: Arc::downgrade(key.0),
                viewer_class: key.1,
                text: Arc::clone(&text),
                rendered_at: Instant::now(),
            });
        }
        (text, self.ttl)
    }

    fn find(&self, uri: &str, key: TextKey<'_>) -> Option<(Arc<str>, Duration)> {
        let entries = self.lock();
        let entry = entries.iter().find(|entry| entry.is_for(uri, key))?;
        let remaining = self.ttl.checked_sub(entry.rendered_at.elapsed())?;
        (!remaining.is_zero()).then(|| (Arc::clone(&entry.text), remaining))
    }

    pub(super) fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            entries: self.lock().len(),
            ttl: self.ttl,
        }
    }

    pub(super) fn gauges(&self) -> Vec<GaugeValue> {
        let stats = self.stats();
        let values = [
            ("cache_hits", stats.hits),
            ("cache_misses", stats.misses),
            ("cache_entries", stats.entries as u64),
        ];
        let gauges = values.map(|(name, value)| GaugeValue { name, value });
        gauges.to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CachedText>> {
        self.entries.lock()
    }
}

impl CachedText {
    fn is_for(&self, uri: &str, (index, viewer_class): TextKey<'_>) -> bool {
        self.uri == uri
            && self.viewer_class == viewer_class
            && std::ptr::eq(self.index.as_ptr(), Arc::as_ptr(index))
    }
}
