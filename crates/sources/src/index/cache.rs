//! Texts that were made, for as long as they hold: until what they tell of changes, and no longer
//! than their time (S3.9, S3.10, X21).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{GaugeValue, SearchIndex};

/// One for each text and kind of caller, and a few more.
const MOST: usize = 64;

pub(super) struct Cache {
    ttl: Duration,
    entries: Mutex<Vec<Entry>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

struct Entry {
    uri: String,
    /// What the text was made from, and for whom.
    of: Weak<SearchIndex>,
    kind: u64,
    text: Arc<str>,
    made: Instant,
}

/// How well it serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) entries: usize,
    pub(super) ttl: Duration,
}

impl Cache {
    pub(super) fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            entries: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The text, and how long it still holds.
    pub(super) fn get(
        &self,
        uri: &str,
        of: (&Arc<SearchIndex>, u64),
        make: impl FnOnce() -> String,
    ) -> (Arc<str>, Duration) {
        if let Some(kept) = self.find(uri, of) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return kept;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let text: Arc<str> = make().into();
        let mut entries = self.lock();
        let others = |entry: &Entry| entry.uri != uri || !entry.is_of(of);
        entries.retain(|entry| entry.made.elapsed() < self.ttl && others(entry));
        if entries.len() == MOST {
            entries.remove(0);
        }
        if !self.ttl.is_zero() {
            entries.push(Entry {
                uri: uri.to_owned(),
                of: Arc::downgrade(of.0),
                kind: of.1,
                text: Arc::clone(&text),
                made: Instant::now(),
            });
        }
        (text, self.ttl)
    }

    fn find(&self, uri: &str, of: (&Arc<SearchIndex>, u64)) -> Option<(Arc<str>, Duration)> {
        let entries = self.lock();
        let entry = entries
            .iter()
            .find(|entry| entry.uri == uri && entry.is_of(of))?;
        let left = self.ttl.checked_sub(entry.made.elapsed())?;
        (!left.is_zero()).then(|| (Arc::clone(&entry.text), left))
    }

    pub(super) fn usage(&self) -> Use {
        Use {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
            entries: self.lock().len(),
            ttl: self.ttl,
        }
    }

    pub(super) fn gauges(&self) -> Vec<GaugeValue> {
        let usage = self.usage();
        let figures = [
            ("cache_hits", usage.hits),
            ("cache_misses", usage.misses),
            ("cache_entries", usage.entries as u64),
        ];
        let gauges = figures.map(|(name, value)| GaugeValue { name, value });
        gauges.to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock()
    }
}

impl Entry {
    fn is_of(&self, (index, kind): (&Arc<SearchIndex>, u64)) -> bool {
        self.kind == kind && std::ptr::eq(self.of.as_ptr(), Arc::as_ptr(index))
    }
}
