//! The configuration of the layers around one source: timeouts, concurrency, retries and breaker.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{Checker, HumanDuration, Section, in_range};
use tidegate_core::Layer;

use crate::{Breaker, Concurrency, Deadline, Retry};

/// Not shorter than what clients wait themselves: some wait a minute, some ten, some without end. A
/// client that gives up cancels its call.
const DEFAULT_CALL_TIMEOUT: HumanDuration = HumanDuration::minutes(30);
const DEFAULT_MAX_CALL_DURATION: HumanDuration = HumanDuration::hours(4);

/// How long a call may wait for a permit.
const MAX_QUEUE_TIMEOUT: Duration = Duration::from_secs(60);

const DEFAULT_MAX_CONCURRENT_CALLS: usize = 1_000;
const DEFAULT_MAX_RETRIES: u32 = 2;
const DEFAULT_FAILURE_THRESHOLD: u32 = 5;
const DEFAULT_OPEN_DURATION: HumanDuration = HumanDuration::secs(30);

/// Shorter timeouts fail for well-behaved peers on a busy machine.
const MIN_TIMEOUT: HumanDuration = HumanDuration::millis(100);

const CALL_TIMEOUT_RANGE: RangeInclusive<HumanDuration> = MIN_TIMEOUT..=HumanDuration::days(1);
const DURATION_RANGE: RangeInclusive<HumanDuration> = MIN_TIMEOUT..=HumanDuration::days(7);
const CONCURRENT_CALLS_RANGE: RangeInclusive<usize> = 1..=1_000_000;
const RETRIES_RANGE: RangeInclusive<u32> = 0..=10;
const FAILURE_THRESHOLD_RANGE: RangeInclusive<u32> = 0..=1_000_000;
const OPEN_DURATION_RANGE: RangeInclusive<HumanDuration> =
    HumanDuration::secs(1)..=HumanDuration::days(1);

/// The timeouts of all calls, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct CallTimeoutSection {
    /// How long a call may take without progress from the source. Clients that give up earlier cancel
    /// their calls themselves.
    #[schemars(extend("default" = DEFAULT_CALL_TIMEOUT), transform = in_range(CALL_TIMEOUT_RANGE))]
    call_timeout: Option<HumanDuration>,
    /// How long a call may take in total.
    #[schemars(extend("default" = DEFAULT_MAX_CALL_DURATION), transform = in_range(DURATION_RANGE))]
    max_call_duration: Option<HumanDuration>,
}

/// The timeouts of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimeouts {
    /// Without progress from the source.
    pub call_timeout: Duration,
    /// In total.
    pub max_call_duration: Duration,
}

impl Default for CallTimeouts {
    fn default() -> Self {
        Self {
            call_timeout: DEFAULT_CALL_TIMEOUT.into(),
            max_call_duration: DEFAULT_MAX_CALL_DURATION.into(),
        }
    }
}

impl CallTimeouts {
    /// The layer that enforces them. A call timeout longer than the maximum duration extends it:
    /// a longer timeout for one source is intended.
    pub fn deadline(self) -> Deadline {
        Deadline {
            call_timeout: self.call_timeout,
            max_call_duration: self.max_call_duration.max(self.call_timeout),
        }
    }
}

impl Section for CallTimeoutSection {
    type Config = CallTimeouts;

    fn check(self, checker: &mut Checker<'_>) -> Option<CallTimeouts> {
        let default = CallTimeouts::default();
        let max_call_duration = checker.in_range(
            "max_call_duration",
            self.max_call_duration,
            default.max_call_duration,
            DURATION_RANGE,
        );
        let timeouts = CallTimeouts {
            call_timeout: checker.in_range(
                "call_timeout",
                self.call_timeout,
                default.call_timeout.min(max_call_duration),
                CALL_TIMEOUT_RANGE,
            ),
            max_call_duration,
        };
        if timeouts.call_timeout > timeouts.max_call_duration {
            let message = format!(
                "`call_timeout` ({}) is longer than `max_call_duration` ({}); lower it, or raise \
                 `max_call_duration`",
                HumanDuration(timeouts.call_timeout),
                HumanDuration(timeouts.max_call_duration)
            );
            checker.problem(&["call_timeout"], message);
        }
        Some(timeouts)
    }
}

/// The call policy of one source, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct CallPolicySection {
    /// How long a call to this server may take without progress. The default is
    /// `limits.call_timeout`.
    #[schemars(extend("examples" = ["2m"]), transform = in_range(DURATION_RANGE))]
    call_timeout: Option<HumanDuration>,
    /// How long a call to this server may take in total. The default is `limits.max_call_duration`.
    #[schemars(extend("examples" = ["30m"]), transform = in_range(DURATION_RANGE))]
    max_call_duration: Option<HumanDuration>,
    /// Concurrent calls to this server. As many more wait in a queue; further ones are rejected.
    #[schemars(extend("default" = DEFAULT_MAX_CONCURRENT_CALLS), transform = in_range(CONCURRENT_CALLS_RANGE))]
    max_concurrent_calls: Option<usize>,
    /// How often a failed call is retried. Calls that never reached the server are retried; others
    /// only if they are idempotent.
    #[schemars(extend("default" = DEFAULT_MAX_RETRIES), transform = in_range(RETRIES_RANGE))]
    max_retries: Option<u32>,
    /// The circuit breaker: after repeated failures, calls fail immediately for a while.
    breaker: Option<BreakerSection>,
}

/// The circuit breaker of one source, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
struct BreakerSection {
    /// Consecutive failures (calls without a response, or without one in time) of one principal that
    /// open the breaker for that principal. With open breakers of two principals, it is open for
    /// everyone; any answer of the server closes it. 0 turns it off.
    #[schemars(extend("default" = DEFAULT_FAILURE_THRESHOLD), transform = in_range(FAILURE_THRESHOLD_RANGE))]
    failure_threshold: Option<u32>,
    /// How long the breaker stays open the first time. It stays open longer each time it opens
    /// again, up to ten times as long.
    #[schemars(extend("default" = DEFAULT_OPEN_DURATION), transform = in_range(OPEN_DURATION_RANGE))]
    open_duration: Option<HumanDuration>,
}

/// How calls to one source are limited and retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPolicy {
    /// If different from the gateway's.
    pub call_timeout: Option<Duration>,
    /// If different from the gateway's.
    pub max_call_duration: Option<Duration>,
    pub max_concurrent_calls: usize,
    pub max_retries: u32,
    /// Consecutive failures that open the breaker; 0 turns it off.
    pub failure_threshold: u32,
    /// How long the breaker stays open the first time.
    pub open_duration: Duration,
}

impl Default for CallPolicy {
    fn default() -> Self {
        Self {
            call_timeout: None,
            max_call_duration: None,
            max_concurrent_calls: DEFAULT_MAX_CONCURRENT_CALLS,
            max_retries: DEFAULT_MAX_RETRIES,
            failure_threshold: DEFAULT_FAILURE_THRESHOLD,
            open_duration: DEFAULT_OPEN_DURATION.into(),
        }
    }
}

impl CallPolicy {
    /// The timeouts of this source. A shorter maximum duration shortens the timeout that the source
    /// does not set itself.
    fn timeouts(&self, gateway: CallTimeouts) -> CallTimeouts {
        let call_timeout = match self.max_call_duration {
            Some(max_call_duration) => gateway.call_timeout.min(max_call_duration),
            None => gateway.call_timeout,
        };
        CallTimeouts {
            call_timeout: self.call_timeout.unwrap_or(call_timeout),
            max_call_duration: self.max_call_duration.unwrap_or(gateway.max_call_duration),
        }
    }

    /// The layers that enforce the policy, outermost first. A call that waits for a permit has not
    /// reached the source, so the breaker does not count it as a failure; a call that times out is
    /// one.
    pub fn layers(&self, gateway: CallTimeouts) -> Vec<Arc<dyn Layer>> {
        let timeouts = self.timeouts(gateway);
        let queue_timeout = timeouts.call_timeout.min(MAX_QUEUE_TIMEOUT);
        let concurrency = Concurrency::new(self.max_concurrent_calls, queue_timeout);
        let mut layers: Vec<Arc<dyn Layer>> = vec![Arc::new(concurrency)];
        if self.failure_threshold > 0 {
            let breaker = Breaker::new(self.failure_threshold, self.open_duration);
            layers.push(Arc::new(breaker));
        }
        layers.push(Arc::new(timeouts.deadline()));
        if self.max_retries > 0 {
            let max_retries = self.max_retries;
            layers.push(Arc::new(Retry { max_retries }));
        }
        layers
    }
}

impl Section for CallPolicySection {
    type Config = CallPolicy;

    fn check(self, checker: &mut Checker<'_>) -> Option<CallPolicy> {
        let default = CallPolicy::default();
        let breaker = self.breaker.unwrap_or_default();
        Some(CallPolicy {
            call_timeout: checker.optional_in_range(
                "call_timeout",
                self.call_timeout,
                DURATION_RANGE,
            ),
            max_call_duration: checker.optional_in_range(
                "max_call_duration",
                self.max_call_duration,
                DURATION_RANGE,
            ),
            max_concurrent_calls: checker.in_range(
                "max_concurrent_calls",
                self.max_concurrent_calls,
                default.max_concurrent_calls,
                CONCURRENT_CALLS_RANGE,
            ),
            max_retries: checker.in_range(
                "max_retries",
                self.max_retries,
                default.max_retries,
                RETRIES_RANGE,
            ),
            failure_threshold: checker.in_range(
                "breaker.failure_threshold",
                breaker.failure_threshold,
                default.failure_threshold,
                FAILURE_THRESHOLD_RANGE,
            ),
            open_duration: checker.in_range(
                "breaker.open_duration",
                breaker.open_duration,
                default.open_duration,
                OPEN_DURATION_RANGE,
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_duration_of_a_source_shortens_the_default_timeout() {
        let seconds = |count| Some(Duration::from_secs(count));
        for (call_timeout, max_call_duration, expected) in [
            (None, seconds(5), (5, 5)),
            (seconds(9), seconds(5), (9, 9)),
            (seconds(3), None, (3, 4 * 3600)),
            (None, None, (30 * 60, 4 * 3600)),
        ] {
            let policy = CallPolicy {
                call_timeout,
                max_call_duration,
                ..CallPolicy::default()
            };
            let deadline = policy.timeouts(CallTimeouts::default()).deadline();
            let (call_timeout, max_call_duration) = expected;
            assert_eq!(deadline.call_timeout, Duration::from_secs(call_timeout));
            assert_eq!(
                deadline.max_call_duration,
                Duration::from_secs(max_call_duration)
            );
        }
    }
}
