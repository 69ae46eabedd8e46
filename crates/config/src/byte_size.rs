//! Sizes as people write them: `4MiB`.

use std::borrow::Cow;
use std::fmt::{self, Display};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

/// The units of a size. Binary units come first because sizes are displayed in them.
const UNITS: &[(&str, usize)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];
const BINARY_UNITS: usize = 3;

/// A number of bytes, written as `65536` or `64KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub usize);

impl ByteSize {
    pub const fn kib(count: usize) -> Self {
        Self(count << 10)
    }

    pub const fn mib(count: usize) -> Self {
        Self(count << 20)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let invalid =
            || format!("`{text}` is not a size; write `65536`, `64KiB`, `4MiB` or `1GiB`");
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, unit) = text.split_at(digits);
        let unit = unit.trim_start();
        let known = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit));
        let factor = match known {
            Some((_, factor)) => *factor,
            None if unit.is_empty() => 1,
            None => return Err(invalid()),
        };
        let count: Option<usize> = count.parse().ok();
        let bytes = count.and_then(|count| count.checked_mul(factor));
        bytes.map(Self).ok_or_else(invalid)
    }
}

impl From<usize> for ByteSize {
    fn from(bytes: usize) -> Self {
        Self(bytes)
    }
}

impl From<ByteSize> for usize {
    fn from(size: ByteSize) -> Self {
        size.0
    }
}

impl From<ByteSize> for u64 {
    fn from(size: ByteSize) -> Self {
        size.0 as u64
    }
}

impl Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        let unit = UNITS[..BINARY_UNITS]
            .iter()
            .find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor));
        match unit {
            Some((unit, factor)) => write!(f, "{}{unit}", bytes / factor),
            None => write!(f, "{bytes}"),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ByteSizeVisitor)
    }
}

struct ByteSizeVisitor;

impl Visitor<'_> for ByteSizeVisitor {
    type Value = ByteSize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as `4MiB`")
    }

    fn visit_u64<E: Error>(self, bytes: u64) -> Result<ByteSize, E> {
        usize::try_from(bytes).map(ByteSize).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ByteSize, E> {
        ByteSize::parse(text).map_err(E::custom)
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
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

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn parses_and_displays_sizes() {
        for (text, bytes, displayed) in [
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
            let size = ByteSize::parse(text).unwrap();
            assert_eq!(
                (size.0, size.to_string().as_str()),
                (bytes, displayed),
                "{text}"
            );
        }
    }

    #[test]
    fn rejects_invalid_sizes() {
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
            let message = ByteSize::parse(text).unwrap_err();
            assert!(message.contains("is not a size"), "{text}: {message}");
        }
    }
}
