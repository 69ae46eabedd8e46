//! How a server is treated: how long it may take, how much it gets at once, when it is left alone.
//!
//! Knows how that is written and between what it may lie; does none of it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::problem::Diagnostics;
use super::remote::RawRemote;
use super::units::{Size, Time};

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

pub(super) const CONNECT_TIMEOUT: Time = Time::secs(MINUTE);
pub(super) const MAX_MESSAGE_BYTES: Size = Size::mib(16);
pub(super) const MAX_CONCURRENT_CALLS: usize = 1_000;
pub(super) const MAX_RETRIES: usize = 2;
pub(super) const FAILURE_THRESHOLD: usize = 5;
pub(super) const OPEN_DURATION: Time = Time::secs(30);
pub(super) const MAX_CONNECTIONS: usize = 16;
pub(super) const PARKED_CALL_TIMEOUT: Time = Time::secs(10 * MINUTE);

/// How one server is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemotePolicy {
    pub era: Era,
    /// Where not the one that holds for all.
    pub call_timeout: Option<Duration>,
    pub max_call_duration: Option<Duration>,
    pub connect_timeout: Duration,
    pub max_message_bytes: usize,
    /// Calls at once.
    pub max_concurrent_calls: usize,
    /// Further attempts of a call that may be repeated.
    pub max_retries: usize,
    /// Failures in a row after which the server is left alone; never if zero.
    pub failure_threshold: usize,
    /// For how long, the first time.
    pub open_duration: Duration,
    pub sharing: Sharing,
    /// Sessions or processes for one principal at once.
    pub max_connections: usize,
    /// How long a call waits for an answer of its client.
    pub parked_call_timeout: Duration,
}

impl Default for RemotePolicy {
    fn default() -> Self {
        Self {
            era: Era::Auto,
            call_timeout: None,
            max_call_duration: None,
            connect_timeout: CONNECT_TIMEOUT.into(),
            max_message_bytes: MAX_MESSAGE_BYTES.into(),
            max_concurrent_calls: MAX_CONCURRENT_CALLS,
            max_retries: MAX_RETRIES,
            failure_threshold: FAILURE_THRESHOLD,
            open_duration: OPEN_DURATION.into(),
            sharing: Sharing::default(),
            max_connections: MAX_CONNECTIONS,
            parked_call_timeout: PARKED_CALL_TIMEOUT.into(),
        }
    }
}

// No doc comments: they would become the reference text of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    #[default]
    Auto,
    Legacy,
    Modern,
}

// No doc comments, as above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    #[default]
    Principal,
    Shared,
    Call,
}

/// When a server is left alone for a while.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawBreaker {
    /// After so many failures in a row: calls that were not answered, or not in time. Never, if it
    /// is 0.
    #[schemars(extend("default" = FAILURE_THRESHOLD))]
    failure_threshold: Option<usize>,
    /// For how long, the first time; longer each further time, up to ten times as long.
    #[schemars(extend("default" = OPEN_DURATION))]
    open_duration: Option<Time>,
}

/// The policy that an entry asks for. `path` is where it stands.
pub(super) fn check(raw: &RawRemote, path: &[&str], diagnostics: &mut Diagnostics) -> RemotePolicy {
    let shipped = RemotePolicy::default();
    let mut within = Within { path, diagnostics };
    let breaker = raw.breaker.as_ref();
    let long = Time::millis(100)..=Time::secs(7 * DAY);
    RemotePolicy {
        era: raw.era.unwrap_or_default(),
        call_timeout: within.optional("call_timeout", raw.call_timeout, long.clone()),
        max_call_duration: within.optional("max_call_duration", raw.max_call_duration, long),
        connect_timeout: within.or(
            "connect_timeout",
            raw.connect_timeout,
            shipped.connect_timeout,
            Time::millis(100)..=Time::secs(HOUR),
        ),
        max_message_bytes: within.or(
            "max_message_bytes",
            raw.max_message_bytes,
            shipped.max_message_bytes,
            Size::kib(1)..=Size::mib(1024),
        ),
        max_concurrent_calls: within.or(
            "max_concurrent_calls",
            raw.max_concurrent_calls,
            shipped.max_concurrent_calls,
            1..=1_000_000,
        ),
        max_retries: within.or("max_retries", raw.max_retries, shipped.max_retries, 0..=10),
        failure_threshold: within.or(
            "breaker.failure_threshold",
            breaker.and_then(|one| one.failure_threshold),
            shipped.failure_threshold,
            0..=1_000_000,
        ),
        open_duration: within.or(
            "breaker.open_duration",
            breaker.and_then(|one| one.open_duration),
            shipped.open_duration,
            Time::secs(SECOND)..=Time::secs(DAY),
        ),
        sharing: raw.sharing.unwrap_or_default(),
        max_connections: within.or(
            "max_connections",
            raw.max_connections,
            shipped.max_connections,
            1..=1_000,
        ),
        parked_call_timeout: within.or(
            "parked_call_timeout",
            raw.parked_call_timeout,
            shipped.parked_call_timeout,
            Time::secs(SECOND)..=Time::secs(DAY),
        ),
    }
}

/// Checks the fields of one entry against their bounds.
pub(super) struct Within<'a> {
    pub(super) path: &'a [&'a str],
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Within<'_> {
    pub(super) fn or<T, V>(
        &mut self,
        field: &str,
        written: Option<T>,
        shipped: V,
        range: RangeInclusive<T>,
    ) -> V
    where
        T: Copy + PartialOrd + Display + Into<V>,
    {
        self.optional(field, written, range).unwrap_or(shipped)
    }

    fn optional<T, V>(
        &mut self,
        field: &str,
        written: Option<T>,
        range: RangeInclusive<T>,
    ) -> Option<V>
    where
        T: Copy + PartialOrd + Display + Into<V>,
    {
        let value = written?;
        if range.contains(&value) {
            return Some(value.into());
        }
        let at: Vec<_> = self.path.iter().copied().chain(field.split('.')).collect();
        let (least, most) = range.into_inner();
        let name = at.join(".");
        let message = format!("`{name}` is {value}; it must be from {least} to {most}");
        self.diagnostics.value(&at, message);
        None
    }
}
