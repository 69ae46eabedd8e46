//! The layer that sees every call: it counts each once, and logs each failure once, with its cause.

use std::sync::Arc;
use std::time::Instant;

use tidegate_core::{
    BoxFuture, Call, CorrelationId, Error, Layer, Next, Principal, Reply, Result, Side, SourceId,
    Stats,
};

use crate::ending::{Ending, Watcher, watched};

/// Counts and logs calls.
pub struct Observe {
    pub stats: Arc<Stats>,
}

impl Layer for Observe {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        let watch = Watch::new(Arc::clone(&self.stats), &call);
        Box::pin(watched(next.run(call), watch))
    }
}

/// One call under watch.
struct Watch {
    stats: Arc<Stats>,
    started: Instant,
    label: &'static str,
    source: SourceId,
    principal: Principal,
    correlation: CorrelationId,
    /// A stream of changes lasts as long as its client wants it: its time says nothing.
    standing: bool,
}

impl Watch {
    fn new(stats: Arc<Stats>, call: &Call) -> Self {
        Self {
            stats,
            started: Instant::now(),
            label: call.label,
            source: call.source.clone(),
            principal: call.caller.principal.clone(),
            correlation: call.correlation,
            standing: call.is_standing(),
        }
    }

    fn succeeded(&self) {
        let took = self.started.elapsed();
        if !self.standing {
            self.stats.succeeded(took);
        }
        tracing::debug!(
            method = self.label,
            source = %self.source,
            principal = %self.principal,
            correlation = %self.correlation,
            took_us = took.as_micros(),
            "call done"
        );
    }

    fn failed(&self, error: &Error) {
        let took = self.started.elapsed();
        let cause = std::error::Error::source(error).map(ToString::to_string);
        match error.side() {
            Side::Client => {
                self.stats.refused(took);
                tracing::info!(
                    method = self.label,
                    source = %self.source,
                    principal = %self.principal,
                    correlation = %self.correlation,
                    code = ?error.code(),
                    error = error.message(),
                    "call refused"
                );
            }
            Side::Gateway | Side::Source => {
                self.stats.failed(took);
                tracing::error!(
                    method = self.label,
                    source = %self.source,
                    principal = %self.principal,
                    correlation = %self.correlation,
                    code = ?error.code(),
                    error = error.message(),
                    cause,
                    took_us = took.as_micros(),
                    "call failed"
                );
            }
        }
    }

    fn cancelled(&self) {
        if !self.standing {
            self.stats.cancelled();
        }
        tracing::debug!(
            method = self.label,
            source = %self.source,
            principal = %self.principal,
            correlation = %self.correlation,
            "call cancelled"
        );
    }
}

impl Watcher for Watch {
    fn ended(self, how: Ending<'_>) {
        match how {
            Ending::Answered => self.succeeded(),
            Ending::Failed(error) => self.failed(error),
            Ending::Dropped => self.cancelled(),
        }
    }
}
