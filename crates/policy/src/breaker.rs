//! The circuit breaker: after repeated failures of a source, calls fail immediately for a while
//! instead of waiting for their deadlines.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Health, Layer, Next, Reply, Result, Step,
    truncate_for_message,
};
use tokio::time::Instant;

use crate::call_end::{CallEnd, CallEndObserver, observe_end};

/// The open duration grows with each failed trial, up to this many times its configured length.
const MAX_OPEN_FACTOR: u32 = 10;

/// Opens after `failure_threshold` failed calls in a row, for `open_duration`.
pub struct Breaker {
    failure_threshold: u32,
    open_duration: Duration,
    state: Arc<Mutex<BreakerState>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BreakerState {
    /// Calls pass; the last `failures` of them failed.
    Closed { failures: u32 },
    /// Calls are rejected. `openings` counts how often it opened since it was last closed.
    Open { until: Instant, openings: u32 },
    /// One trial call is in flight; others are rejected.
    HalfOpen { openings: u32 },
}

impl Breaker {
    pub fn new(failure_threshold: u32, open_duration: Duration) -> Self {
        Self {
            failure_threshold,
            open_duration,
            state: Arc::new(Mutex::new(BreakerState::Closed { failures: 0 })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BreakerState> {
        self.state.lock()
    }

    /// Whether a call may pass now; otherwise, how long to wait.
    fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.lock();
        match *state {
            BreakerState::Closed { .. } => Ok(()),
            BreakerState::Open { until, openings } if until <= now => {
                *state = BreakerState::HalfOpen { openings };
                Ok(())
            }
            BreakerState::Open { until, .. } => Err(until - now),
            BreakerState::HalfOpen { .. } => Err(self.open_duration),
        }
    }
}

impl Layer for Breaker {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        if let Err(wait) = self.admit(Instant::now()) {
            let error = open_error(call.source.as_str(), wait);
            return Box::pin(std::future::ready(Err(error)));
        }
        let observer = BreakerObserver {
            failure_threshold: self.failure_threshold,
            open_duration: self.open_duration,
            state: Arc::clone(&self.state),
        };
        Box::pin(observe_end(next.run(call), observer))
    }

    fn health(&self) -> Health {
        match *self.lock() {
            BreakerState::Closed { .. } => Health::Healthy,
            BreakerState::Open { .. } | BreakerState::HalfOpen { .. } => {
                Health::Warning("circuit breaker open after repeated failures".to_owned())
            }
        }
    }
}

fn open_error(source: &str, wait: Duration) -> Error {
    let seconds = wait.as_secs() + 1;
    let message = format!(
        "source `{}` failed repeatedly (circuit breaker open); retry in {seconds} s",
        truncate_for_message(source)
    );
    Error::new(Code::SourceDown, ErrorOrigin::Gateway, message).at(Step::Govern)
}

/// Updates the breaker when a call ends.
struct BreakerObserver {
    failure_threshold: u32,
    open_duration: Duration,
    state: Arc<Mutex<BreakerState>>,
}

impl CallEndObserver for BreakerObserver {
    fn call_ended(self, end: CallEnd<'_>) {
        let mut state = self.state.lock();
        *state = match end {
            CallEnd::Completed(_) => BreakerState::Closed { failures: 0 },
            CallEnd::Failed(error) if is_source_failure(error) => self.after_failure(*state),
            // An error response still shows that the source works.
            CallEnd::Failed(error) if error.origin() != ErrorOrigin::Gateway => {
                BreakerState::Closed { failures: 0 }
            }
            // This says nothing about the source: the next call may be the trial.
            CallEnd::Failed(_) | CallEnd::Cancelled => match *state {
                BreakerState::HalfOpen { openings } => BreakerState::Open {
                    until: Instant::now(),
                    openings,
                },
                unchanged => unchanged,
            },
        };
    }
}

impl BreakerObserver {
    fn after_failure(&self, state: BreakerState) -> BreakerState {
        let open = |openings: u32| BreakerState::Open {
            until: Instant::now() + self.open_duration * openings.min(MAX_OPEN_FACTOR),
            openings,
        };
        match state {
            BreakerState::Closed { failures } if failures + 1 < self.failure_threshold => {
                BreakerState::Closed {
                    failures: failures + 1,
                }
            }
            BreakerState::Closed { .. } => open(1),
            BreakerState::HalfOpen { openings } => open(openings + 1),
            still_open @ BreakerState::Open { .. } => still_open,
        }
    }
}

/// Whether the source got the call and failed to answer it.
fn is_source_failure(error: &Error) -> bool {
    let is_failure = matches!(error.code(), Code::SourceFailed | Code::Timeout);
    is_failure && error.origin() != ErrorOrigin::Client
}

#[cfg(test)]
mod tests;
