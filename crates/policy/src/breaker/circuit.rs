//! The circuit of one principal: closed, open or half-open.

use std::time::Duration;

use tokio::time::Instant;

use super::Moment;

/// The open duration grows with each failed trial, up to this many times its configured length.
pub(super) const MAX_OPEN_FACTOR: u32 = 10;

#[derive(Clone, Copy)]
pub(super) struct Thresholds {
    /// Failures in a row that open a circuit.
    pub(super) failures: u32,
    /// How long it stays open the first time.
    pub(super) open_duration: Duration,
}

#[derive(Clone, Copy)]
pub(super) enum Circuit {
    /// Calls pass; the last `failures` of them failed.
    Closed {
        failures: u32,
        last_failure: Option<Instant>,
    },
    /// Calls are rejected. `openings` counts how often it opened since it was last closed.
    Open {
        until: Instant,
        openings: u32,
        /// How often the source had connected when the failed call began.
        connects: u64,
    },
    /// One trial call is in flight; others are rejected.
    HalfOpen { openings: u32, since: Moment },
}

impl Default for Circuit {
    fn default() -> Self {
        Self::Closed {
            failures: 0,
            last_failure: None,
        }
    }
}

impl Circuit {
    /// Whether it is open or half-open.
    pub(super) fn has_opened(&self) -> bool {
        !matches!(self, Self::Closed { .. })
    }

    /// How long calls are rejected from now on, if they are.
    pub(super) fn wait(&self, now: Moment) -> Option<Duration> {
        match *self {
            Self::Open {
                until, connects, ..
            } if connects == now.connects => {
                let wait = until.saturating_duration_since(now.time);
                (!wait.is_zero()).then_some(wait)
            }
            Self::Closed { .. } | Self::Open { .. } | Self::HalfOpen { .. } => None,
        }
    }

    /// Whether a call may pass now; otherwise, how long to wait. The first that passes an open circuit
    /// is the trial.
    pub(super) fn admit(&mut self, now: Moment, thresholds: Thresholds) -> Result<(), Duration> {
        if let Some(wait) = self.wait(now) {
            return Err(wait);
        }
        match *self {
            Self::Closed { .. } => Ok(()),
            Self::HalfOpen { since, .. } if since.connects == now.connects => {
                Err(thresholds.open_duration)
            }
            Self::Open { openings, .. } | Self::HalfOpen { openings, .. } => {
                *self = Self::HalfOpen {
                    openings,
                    since: now,
                };
                Ok(())
            }
        }
    }

    /// A call that began at `started` failed. Calls that were in flight together, such as those that
    /// one crash ended, are one failure.
    pub(super) fn record_failure(&mut self, started: Moment, thresholds: Thresholds) {
        let now = Instant::now();
        let open = |openings: u32| Self::Open {
            until: now + thresholds.open_duration * openings.min(MAX_OPEN_FACTOR),
            openings,
            connects: started.connects,
        };
        *self = match *self {
            Self::Closed {
                last_failure: Some(last),
                ..
            } if started.time < last => return,
            Self::Closed { failures, .. } if failures + 1 < thresholds.failures => Self::Closed {
                failures: failures + 1,
                last_failure: Some(now),
            },
            Self::Closed { .. } => open(1),
            Self::HalfOpen { openings, since } if started.time >= since.time => open(openings + 1),
            Self::HalfOpen { .. } | Self::Open { .. } => return,
        };
    }

    /// The trial ended without a result.
    pub(super) fn end_trial(&mut self) {
        if let Self::HalfOpen { openings, since } = *self {
            *self = Self::Open {
                until: Instant::now(),
                openings,
                connects: since.connects,
            };
        }
    }
}
