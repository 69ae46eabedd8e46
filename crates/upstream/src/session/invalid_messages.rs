//! What a server says that is no message, or is for nobody: told now and then, and counted.
//!
//! Must not know: where it was said.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::GaugeValue;

use crate::log_rate_limit::Ration;

/// How often it is told.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// One server's junk. What has not been told is told when it is dropped.
pub(crate) struct Junk {
    source: String,
    ration: Mutex<Ration>,
    noted: AtomicU64,
    strays: AtomicU64,
}

impl Junk {
    pub(crate) fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            ration: Mutex::new(Ration::new(1, TELL_EVERY)),
            noted: AtomicU64::new(0),
            strays: AtomicU64::new(0),
        }
    }

    /// An answer that nobody waits for. Whoever gave up on a call leaves such, so that one alone is
    /// not worth a line.
    pub(crate) fn stray(&self) {
        self.strays.fetch_add(1, Relaxed);
        tracing::debug!(source = self.source, "an answer that nobody waits for");
    }

    /// How much there was of both.
    pub(crate) fn gauges(&self) -> [GaugeValue; 2] {
        let vital = |name, count: &AtomicU64| GaugeValue {
            name,
            value: count.load(Relaxed),
        };
        [
            vital("junk_messages", &self.noted),
            vital("stray_answers", &self.strays),
        ]
    }

    pub(crate) fn note(&self, error: &str) {
        self.noted.fetch_add(1, Relaxed);
        if self.lock().is_over() {
            self.tell();
        }
        if self.lock().take() {
            let source = &self.source;
            tracing::warn!(
                source,
                error,
                "the source said something that is no message"
            );
        }
    }

    fn tell(&self) {
        if let Some(count) = self.lock().dropped() {
            let source = &self.source;
            tracing::warn!(source, count, "and more that is no message");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ration> {
        self.ration.lock()
    }
}

impl Drop for Junk {
    fn drop(&mut self) {
        self.tell();
    }
}
