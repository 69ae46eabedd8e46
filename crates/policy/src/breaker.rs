//! The circuit breaker: after repeated failures of a source, calls fail immediately for a while
//! instead of waiting for their deadlines.
//!
//! Failures count for the principal whose calls failed, so that nobody can close a source to others.
//! Only when the circuits of several principals are open is the source closed to everyone. Any answer
//! of the source closes all circuits.

mod circuit;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Health, Layer, Next, Principal, Reply, Result, Step,
    truncate_for_message,
};
use tokio::time::Instant;

use crate::call_end::{CallEnd, CallEndObserver, observe_end};
use circuit::{Circuit, Thresholds};

/// With open circuits of this many principals, the source is closed to everyone.
const PRINCIPALS_THAT_CLOSE_A_SOURCE: usize = 2;

/// Principals with failing calls. The failures of others are not counted.
const MAX_PRINCIPALS: usize = 1024;

/// Opens after `failure_threshold` failed calls in a row, for `open_duration`.
pub struct Breaker {
    circuits: Arc<Circuits>,
}

/// The circuits of all principals whose last calls failed.
struct Circuits {
    thresholds: Thresholds,
    failing: Mutex<HashMap<Principal, Circuit>>,
}

/// A moment in the life of a source.
#[derive(Clone, Copy)]
struct Moment {
    time: Instant,
    /// How often the source had connected. A source that connected again is tried again at once.
    connects: u64,
}

impl Breaker {
    pub fn new(failure_threshold: u32, open_duration: Duration) -> Self {
        Self {
            circuits: Arc::new(Circuits {
                thresholds: Thresholds {
                    failures: failure_threshold,
                    open_duration,
                },
                failing: Mutex::default(),
            }),
        }
    }
}

impl Circuits {
    /// Whether a call may pass now; otherwise, how long to wait.
    fn admit(&self, principal: &Principal, now: Moment) -> Result<(), Duration> {
        let mut failing = self.failing.lock();
        let open = failing.values().filter_map(|circuit| circuit.wait(now));
        let is_closed_to_all = open.clone().count() >= PRINCIPALS_THAT_CLOSE_A_SOURCE;
        let shortest_wait = open.min();
        match failing.get_mut(principal) {
            Some(circuit) if circuit.has_opened() => circuit.admit(now, self.thresholds),
            _ => match shortest_wait {
                Some(wait) if is_closed_to_all => Err(wait),
                _ => Ok(()),
            },
        }
    }

    /// The source answered, so it works.
    fn record_answer(&self) {
        self.failing.lock().clear();
    }

    fn record_failure(&self, principal: &Principal, started: Moment) {
        let mut failing = self.failing.lock();
        if failing.len() < MAX_PRINCIPALS || failing.contains_key(principal) {
            let circuit = failing.entry(principal.clone()).or_default();
            circuit.record_failure(started, self.thresholds);
        }
    }

    /// A call ended without saying anything about the source: the next call may be the trial.
    fn record_nothing(&self, principal: &Principal) {
        if let Some(circuit) = self.failing.lock().get_mut(principal) {
            circuit.end_trial();
        }
    }
}

impl Layer for Breaker {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        let now = Moment {
            time: Instant::now(),
            connects: next.source_connects(),
        };
        if let Err(wait) = self.circuits.admit(&call.caller.principal, now) {
            let error = open_error(call.source.as_str(), wait);
            return Box::pin(std::future::ready(Err(error)));
        }
        let observer = BreakerObserver {
            circuits: Arc::clone(&self.circuits),
            principal: call.caller.principal.clone(),
            started: now,
        };
        Box::pin(observe_end(next.run(call), observer))
    }

    fn health(&self) -> Health {
        match self
            .circuits
            .failing
            .lock()
            .values()
            .any(Circuit::has_opened)
        {
            false => Health::Healthy,
            true => Health::Warning("circuit breaker open after repeated failures".to_owned()),
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

/// Updates the circuits when a call ends.
struct BreakerObserver {
    circuits: Arc<Circuits>,
    principal: Principal,
    started: Moment,
}

impl CallEndObserver for BreakerObserver {
    fn call_ended(self, end: CallEnd<'_>) {
        let Self {
            circuits,
            principal,
            started,
        } = &self;
        match end {
            CallEnd::Completed(_) => circuits.record_answer(),
            CallEnd::Failed(error) if is_source_failure(error) => {
                circuits.record_failure(principal, *started);
            }
            // An error response still shows that the source works.
            CallEnd::Failed(error) if is_answer(error) => circuits.record_answer(),
            CallEnd::Failed(_) | CallEnd::Cancelled => circuits.record_nothing(principal),
        }
    }
}

/// Whether the source got the call and failed to answer it.
fn is_source_failure(error: &Error) -> bool {
    let is_failure = matches!(error.code(), Code::SourceFailed | Code::Timeout);
    is_failure && error.origin() != ErrorOrigin::Client
}

/// Whether the source answered with an error.
fn is_answer(error: &Error) -> bool {
    error.origin() == ErrorOrigin::Source && error.code() != Code::SourceDown
}

#[cfg(test)]
mod tests;
