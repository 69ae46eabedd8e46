//! Durations as people write them: `500ms`, `1.5s`, `1h 30m`.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// The names of each unit, and its length in nanoseconds. The first name is the short one.
const UNITS: &[(&[&str], u128)] = &[
    (&["ms", "msec", "millisecond", "milliseconds"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], NANOS_PER_SECOND),
    (
        &["m", "min", "mins", "minute", "minutes"],
        60 * NANOS_PER_SECOND,
    ),
    (
        &["h", "hr", "hrs", "hour", "hours"],
        3_600 * NANOS_PER_SECOND,
    ),
    (&["d", "day", "days"], 86_400 * NANOS_PER_SECOND),
    (&["w", "week", "weeks"], 604_800 * NANOS_PER_SECOND),
];
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Digits after the decimal point that count.
const MAX_FRACTION_DIGITS: usize = 9;

/// A duration with its unit, written as `500ms`, `1.5s` or `1h 30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(pub Duration);

impl HumanDuration {
    pub const ZERO: Self = Self(Duration::ZERO);

    pub const fn millis(count: u64) -> Self {
        Self(Duration::from_millis(count))
    }

    pub const fn secs(count: u64) -> Self {
        Self(Duration::from_secs(count))
    }

    pub const fn minutes(count: u64) -> Self {
        Self::secs(60 * count)
    }

    pub const fn hours(count: u64) -> Self {
        Self::minutes(60 * count)
    }

    pub const fn days(count: u64) -> Self {
        Self::hours(24 * count)
    }

    /// Parses a duration. The error says what to write instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut remaining = text.trim();
        if remaining.is_empty() {
            return Err(not_a_duration(text));
        }
        let mut nanos: u128 = 0;
        while !remaining.is_empty() {
            let (number, after) = split_while(remaining, |c| c.is_ascii_digit() || c == '.');
            let (unit, after) = split_while(after.trim_start(), char::is_alphabetic);
            let length = unit_length(unit).ok_or_else(|| invalid_unit(text, number, unit))?;
            if !is_decimal(number) {
                return Err(not_a_duration(text));
            }
            let part = multiply(number, length).ok_or_else(|| too_large(text))?;
            nanos = nanos.checked_add(part).ok_or_else(|| too_large(text))?;
            remaining = after.trim_start();
        }
        let seconds = u64::try_from(nanos / NANOS_PER_SECOND);
        let below_second = u32::try_from(nanos % NANOS_PER_SECOND).unwrap_or_default();
        seconds
            .map(|seconds| Self(Duration::new(seconds, below_second)))
            .map_err(|_| too_large(text))
    }
}

fn is_decimal(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_digits(whole) && is_digits(fraction)
}

fn split_while(text: &str, matches: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !matches(c)).unwrap_or(text.len());
    text.split_at(end)
}

fn unit_length(unit: &str) -> Option<u128> {
    let known = UNITS.iter().find(|(names, _)| names.contains(&unit));
    known.map(|(_, length)| *length)
}

/// A decimal number of units, in nanoseconds; `None` if it is too large.
fn multiply(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let mut nanos = whole.parse::<u128>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes().take(MAX_FRACTION_DIGITS) {
        place /= 10;
        nanos += u128::from(digit - b'0') * place;
    }
    Some(nanos)
}

fn not_a_duration(text: &str) -> String {
    format!("`{text}` is not a duration; write `500ms`, `30s`, `5m` or `1h`")
}

fn too_large(text: &str) -> String {
    format!("`{text}` is too large")
}

fn invalid_unit(text: &str, number: &str, unit: &str) -> String {
    match unit {
        _ if number.is_empty() => not_a_duration(text),
        "" => format!("`{text}` has no unit; for seconds write `{number}s`"),
        "M" => format!(
            "`{text}`: the unit `M` is ambiguous; write `{number}m` for minutes, or days (`d`) for \
             longer times"
        ),
        _ => {
            let known: Vec<&str> = UNITS.iter().map(|(names, _)| names[0]).collect();
            let known = known.join(", ");
            format!("`{text}`: unknown unit `{unit}`; use one of {known}")
        }
    }
}

impl From<Duration> for HumanDuration {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<HumanDuration> for Duration {
    fn from(duration: HumanDuration) -> Self {
        duration.0
    }
}

impl Display for HumanDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_duration(self.0))
    }
}

impl Serialize for HumanDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HumanDurationVisitor)
    }
}

struct HumanDurationVisitor;

impl Visitor<'_> for HumanDurationVisitor {
    type Value = HumanDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as `30s`")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<HumanDuration, E> {
        HumanDuration::parse(&count.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, count: f64) -> Result<HumanDuration, E> {
        HumanDuration::parse(&count.to_string()).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HumanDuration, E> {
        HumanDuration::parse(text).map_err(E::custom)
    }
}

impl JsonSchema for HumanDuration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let units: Vec<String> = UNITS.iter().map(|(names, _)| names.join("|")).collect();
        let units = units.join("|");
        json_schema!({
            "title": "duration",
            "type": "string",
            "pattern": format!(r"^\s*([0-9]+(\.[0-9]+)?\s*({units})\s*)+$"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations() {
        for (text, millis) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("1.5s", 1_500),
            (" 0.25 s ", 250),
            ("2 minutes", 120_000),
            ("1h 30m", 5_400_000),
            ("1h30m", 5_400_000),
            ("1day", 86_400_000),
            ("2w", 14 * 86_400_000),
            ("0s", 0),
        ] {
            let parsed = HumanDuration::parse(text);
            assert_eq!(parsed, Ok(HumanDuration::millis(millis)), "{text}");
        }
    }

    #[test]
    fn rejects_ambiguous_and_unknown_units() {
        for (text, part) in [
            ("2M", "the unit `M` is ambiguous; write `2m` for minutes"),
            ("1h 2M", "write `2m` for minutes"),
            (
                "2 months",
                "unknown unit `months`; use one of ms, s, m, h, d, w",
            ),
            ("1y", "unknown unit `y`"),
            ("5S", "unknown unit `S`"),
            ("30", "`30` has no unit; for seconds write `30s`"),
            ("1.5", "for seconds write `1.5s`"),
            ("", "is not a duration"),
            ("soon", "is not a duration"),
            ("1.s", "is not a duration"),
            (".5s", "is not a duration"),
            ("1..5s", "is not a duration"),
            ("-1s", "is not a duration"),
            ("1s!", "is not a duration"),
            ("999999999999999999999999999w", "is too large"),
            (&format!("{}w", "9".repeat(50)), "is too large"),
        ] {
            let message = HumanDuration::parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn parses_what_it_displays() {
        for (duration, displayed) in [
            (HumanDuration::secs(60), "1m"),
            (HumanDuration::millis(500), "500ms"),
            (HumanDuration::millis(1_500), "1s 500ms"),
            (HumanDuration::days(7), "7days"),
        ] {
            assert_eq!(duration.to_string(), displayed);
            assert_eq!(HumanDuration::parse(displayed), Ok(duration));
        }
    }
}
