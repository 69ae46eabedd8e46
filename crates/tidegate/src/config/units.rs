//! How people write sizes and durations: `4MiB`, `30s`.
//!
//! Knows the notation alone, not which setting has it nor how large it may be.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// What a size may be counted in. The first that fits is how a size is shown.
const UNITS: &[(&str, usize)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(pub(crate) usize);

impl Size {
    pub(crate) const fn kib(count: usize) -> Self {
        Self(count << 10)
    }

    pub(crate) const fn mib(count: usize) -> Self {
        Self(count << 20)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let refused =
            || format!("`{text}` is not a size; write `65536`, `64KiB`, `4MiB` or `1GiB`");
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, unit) = text.split_at(digits);
        let unit = unit.trim_start();
        let scale = match UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        {
            Some((_, scale)) => *scale,
            None if unit.is_empty() => 1,
            None => return Err(refused()),
        };
        let bytes = count
            .parse::<usize>()
            .ok()
            .and_then(|count| count.checked_mul(scale));
        bytes.map(Self).ok_or_else(refused)
    }
}

impl From<usize> for Size {
    fn from(bytes: usize) -> Self {
        Self(bytes)
    }
}

impl From<Size> for usize {
    fn from(size: Size) -> Self {
        size.0
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        let binary = UNITS
            .iter()
            .take(3)
            .find(|(_, scale)| bytes > 0 && bytes.is_multiple_of(*scale));
        match binary {
            Some((unit, scale)) => write!(f, "{}{unit}", bytes / scale),
            None => write!(f, "{bytes}"),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as `4MiB`")
    }

    fn visit_u64<E: Error>(self, bytes: u64) -> Result<Size, E> {
        usize::try_from(bytes).map(Size).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
        Size::parse(text).map_err(E::custom)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "size",
            "type": ["string", "integer"],
            "minimum": 0,
            "pattern": "^[0-9]+ *([KMGkmg]?[Bb]|[KMGkmg][Ii][Bb])?$",
        })
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(pub(crate) Duration);

impl Time {
    pub(crate) const fn millis(count: u64) -> Self {
        Self(Duration::from_millis(count))
    }

    pub(crate) const fn secs(count: u64) -> Self {
        Self(Duration::from_secs(count))
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_duration(self.0))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as `30s`")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Time, E> {
        Err(E::custom(format!(
            "`{count}` has no unit; for seconds write `{count}s`"
        )))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
        let parsed = humantime::parse_duration(text).map(Time);
        parsed.map_err(|_| {
            E::custom(format!(
                "`{text}` is not a duration; write `500ms`, `30s`, `5m` or `1h`"
            ))
        })
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "duration", "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::{Size, Time};

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes, shown) in [
            ("0", 0, "0"),
            ("1000", 1000, "1000"),
            ("65536", 65536, "64KiB"),
            ("64KiB", 65536, "64KiB"),
            ("64 kib", 65536, "64KiB"),
            ("4MiB", 4 << 20, "4MiB"),
            ("1GiB", 1 << 30, "1GiB"),
            ("3KB", 3000, "3000"),
            ("2MB", 2_000_000, "2000000"),
            ("7B", 7, "7"),
        ] {
            let size = Size::parse(text).unwrap();
            assert_eq!(
                (size.0, size.to_string().as_str()),
                (bytes, shown),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "MiB",
            "-1",
            "1.5MiB",
            "4M",
            "4 MiB x",
            "99999999999GiB",
            "4Mib2",
        ] {
            let message = Size::parse(text).unwrap_err();
            assert!(message.contains("is not a size"), "{text}: {message}");
        }
    }

    #[test]
    fn durations_are_shown_as_they_are_written() {
        for (time, shown) in [(Time::secs(60), "1m"), (Time::millis(500), "500ms")] {
            assert_eq!(time.to_string(), shown);
        }
    }
}
