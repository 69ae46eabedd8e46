//! How a server is treated: how long it may take, how much it gets at once, when it is left alone.
//!
//! Knows how that is written and between what it may lie; does none of it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::forms::{Size, Time};
use super::problem::Diagnostics;
use super::remote::RawRemote;

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

pub(super) const CONNECT_TIME: Time = Time::secs(MINUTE);
pub(super) const MESSAGE_BYTES: Size = Size::mib(16);
pub(super) const CALLS: usize = 1_000;
pub(super) const RETRIES: usize = 2;
pub(super) const FAILURES: usize = 5;
pub(super) const PAUSE: Time = Time::secs(30);
pub(super) const LINKS: usize = 16;
pub(super) const PARK_TIME: Time = Time::secs(10 * MINUTE);

/// How one server is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conduct {
    pub era: Era,
    /// Where not the one that holds for all.
    pub call_time: Option<Duration>,
    pub call_time_max: Option<Duration>,
    pub connect_time: Duration,
    pub message_bytes: usize,
    /// Calls at once.
    pub calls: usize,
    /// Further attempts of a call that may be repeated.
    pub retries: usize,
    /// Failures in a row after which the server is left alone; never if zero.
    pub failures: usize,
    /// For how long, the first time.
    pub pause: Duration,
    pub sharing: Sharing,
    /// Sessions or processes for one principal at once.
    pub links: usize,
    /// How long a call waits for an answer of its client.
    pub park_time: Duration,
}

impl Default for Conduct {
    fn default() -> Self {
        Self {
            era: Era::Auto,
            call_time: None,
            call_time_max: None,
            connect_time: CONNECT_TIME.into(),
            message_bytes: MESSAGE_BYTES.into(),
            calls: CALLS,
            retries: RETRIES,
            failures: FAILURES,
            pause: PAUSE.into(),
            sharing: Sharing::default(),
            links: LINKS,
            park_time: PARK_TIME.into(),
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
    #[schemars(extend("default" = FAILURES))]
    failures: Option<usize>,
    /// For how long, the first time; longer each further time, up to ten times as long.
    #[schemars(extend("default" = PAUSE))]
    pause: Option<Time>,
}

/// The conduct that an entry asks for. `path` is where it stands.
pub(super) fn check(raw: &RawRemote, path: &[&str], diagnostics: &mut Diagnostics) -> Conduct {
    let shipped = Conduct::default();
    let mut within = Within { path, diagnostics };
    let breaker = raw.breaker.as_ref();
    let long = Time::millis(100)..=Time::secs(7 * DAY);
    Conduct {
        era: raw.era.unwrap_or_default(),
        call_time: within.optional("call_time", raw.call_time, long.clone()),
        call_time_max: within.optional("call_time_max", raw.call_time_max, long),
        connect_time: within.or(
            "connect_time",
            raw.connect_time,
            shipped.connect_time,
            Time::millis(100)..=Time::secs(HOUR),
        ),
        message_bytes: within.or(
            "message_bytes",
            raw.message_bytes,
            shipped.message_bytes,
            Size::kib(1)..=Size::mib(1024),
        ),
        calls: within.or("calls", raw.calls, shipped.calls, 1..=1_000_000),
        retries: within.or("retries", raw.retries, shipped.retries, 0..=10),
        failures: within.or(
            "breaker.failures",
            breaker.and_then(|one| one.failures),
            shipped.failures,
            0..=1_000_000,
        ),
        pause: within.or(
            "breaker.pause",
            breaker.and_then(|one| one.pause),
            shipped.pause,
            Time::secs(SECOND)..=Time::secs(DAY),
        ),
        sharing: raw.sharing.unwrap_or_default(),
        links: within.or("links", raw.links, shipped.links, 1..=1_000),
        park_time: within.or(
            "park_time",
            raw.park_time,
            shipped.park_time,
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
