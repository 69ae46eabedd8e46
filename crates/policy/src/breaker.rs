//! The layer that leaves a source alone for a while when it fails again and again, so that calls
//! fail at once instead of each waiting for its deadline.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    BoxFuture, Call, Code, Error, ErrorOrigin, Health, Layer, Next, Reply, Result,
    truncate_for_message,
};
use tokio::time::Instant;

use crate::call_outcome::{Ending, Watcher, watched};

/// The pause grows up to this many times the first.
const LONGEST: u32 = 10;

/// Opens after so many failures in a row.
pub struct Breaker {
    failure_threshold: u32,
    open_duration: Duration,
    state: Arc<Mutex<State>>,
}

/// What the last calls were like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls go through; so many have failed in a row.
    Closed { failed: u32 },
    /// Calls are refused.
    Open { until: Instant, times: u32 },
    /// One call goes through, to see.
    Trying { times: u32 },
}

impl Breaker {
    pub fn new(failure_threshold: u32, open_duration: Duration) -> Self {
        Self {
            failure_threshold,
            open_duration,
            state: Arc::new(Mutex::new(State::Closed { failed: 0 })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Whether a call may go through now; how long to wait if not.
    fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.lock();
        match *state {
            State::Closed { .. } => Ok(()),
            State::Open { until, times } if until <= now => {
                *state = State::Trying { times };
                Ok(())
            }
            State::Open { until, .. } => Err(until - now),
            State::Trying { .. } => Err(self.open_duration),
        }
    }
}

impl Layer for Breaker {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        if let Err(wait) = self.admit(Instant::now()) {
            let refused = refused(call.source.as_str(), wait);
            return Box::pin(std::future::ready(Err(refused)));
        }
        let watcher = Counter {
            failure_threshold: self.failure_threshold,
            open_duration: self.open_duration,
            state: Arc::clone(&self.state),
        };
        Box::pin(watched(next.run(call), watcher))
    }

    fn health(&self) -> Health {
        match *self.lock() {
            State::Closed { .. } => Health::Good,
            State::Open { .. } | State::Trying { .. } => {
                Health::Degraded("failed again and again; it is left alone for a while".to_owned())
            }
        }
    }
}

fn refused(source: &str, wait: Duration) -> Error {
    let seconds = wait.as_secs() + 1;
    let message = format!(
        "the source `{}` failed again and again and is left alone; try again in {seconds} s",
        truncate_for_message(source)
    );
    Error::new(Code::SourceDown, ErrorOrigin::Gateway, message)
}

/// Notes how a call ended.
struct Counter {
    failure_threshold: u32,
    open_duration: Duration,
    state: Arc<Mutex<State>>,
}

impl Watcher for Counter {
    fn ended(self, how: Ending<'_>) {
        let mut state = self.state.lock();
        *state = match how {
            Ending::Answered(_) => State::Closed { failed: 0 },
            Ending::Failed(error) if is_its_fault(error) => self.after_failure(*state),
            Ending::Failed(error) if error.origin() != ErrorOrigin::Gateway => {
                State::Closed { failed: 0 }
            }
            // Nothing was learned: the next call may try.
            Ending::Failed(_) | Ending::Dropped => match *state {
                State::Trying { times } => State::Open {
                    until: Instant::now(),
                    times,
                },
                other => other,
            },
        };
    }
}

impl Counter {
    fn after_failure(&self, state: State) -> State {
        let open = |times: u32| State::Open {
            until: Instant::now() + self.open_duration * times.min(LONGEST),
            times,
        };
        match state {
            State::Closed { failed } if failed + 1 < self.failure_threshold => {
                State::Closed { failed: failed + 1 }
            }
            State::Closed { .. } => open(1),
            State::Trying { times } => open(times + 1),
            still_open @ State::Open { .. } => still_open,
        }
    }
}

/// Whether asking again would likely end the same way. What was not asked says nothing.
fn is_its_fault(error: &Error) -> bool {
    matches!(error.code(), Code::SourceFailed | Code::Timeout)
}

#[cfg(test)]
mod tests {
    use tidegate_core::{Outcome, RawJson};

    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn failed(breaker: &Breaker) {
        ends(
            breaker,
            Ending::Failed(&Error::new(Code::Timeout, ErrorOrigin::Source, "late")),
        );
    }

    fn answered(breaker: &Breaker) {
        let outcome = Outcome::complete(RawJson::empty_object());
        ends(breaker, Ending::Answered(&outcome));
    }

    fn ends(breaker: &Breaker, how: Ending<'_>) {
        let counter = Counter {
            failure_threshold: breaker.failure_threshold,
            open_duration: breaker.open_duration,
            state: Arc::clone(&breaker.state),
        };
        counter.ended(how);
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_failures_in_a_row_and_lets_one_try_later() {
        let breaker = Breaker::new(3, PAUSE);
        let admitted = || breaker.admit(Instant::now()).is_ok();
        failed(&breaker);
        failed(&breaker);
        answered(&breaker);
        failed(&breaker);
        failed(&breaker);
        assert!(admitted(), "not three in a row");
        failed(&breaker);
        assert!(!admitted());
        assert!(matches!(breaker.health(), Health::Degraded(_)));
        tokio::time::advance(PAUSE).await;
        assert!(admitted() && !admitted(), "one alone");
        failed(&breaker);
        tokio::time::advance(PAUSE).await;
        assert!(!admitted(), "the second pause is longer");
        tokio::time::advance(PAUSE).await;
        assert!(admitted());
        ends(&breaker, Ending::Dropped);
        assert!(admitted(), "nothing was learned");
        answered(&breaker);
        assert!(admitted() && admitted());
        assert_eq!(breaker.health(), Health::Good);
    }

    #[tokio::test]
    async fn what_was_not_asked_and_what_was_answered_is_no_failure() {
        let breaker = Breaker::new(1, PAUSE);
        for error in [
            Error::new(Code::SourceDown, ErrorOrigin::Source, "not there"),
            Error::new(Code::Source(-32000), ErrorOrigin::Source, "an answer"),
            Error::resource_not_found("a://b"),
        ] {
            ends(&breaker, Ending::Failed(&error));
        }
        assert!(breaker.admit(Instant::now()).is_ok());
    }
}
