//! How long an entry is kept: seconds, or a text such as `5m`.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Longer than anyone means.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Ttl {
    Seconds(f64),
    Text(String),
}

impl Ttl {
    pub(super) fn time(&self) -> Result<Duration, String> {
        let time = match self {
            Self::Seconds(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            Self::Text(text) => match text.trim().parse() {
                Ok(seconds) => Some(Duration::from_secs(seconds)),
                Err(_) => humantime::parse_duration(text.trim()).ok(),
            },
        };
        let fits = |time: &Duration| !time.is_zero() && *time <= LONGEST;
        time.filter(fits).ok_or_else(|| {
            "`ttl` must be a number of seconds, or a time such as \"90s\", \"5m\", \"12h\" or \
             \"7days\"; leave it out to keep the entry for good"
                .to_owned()
        })
    }
}

impl JsonSchema for Ttl {
    fn schema_name() -> Cow<'static, str> {
        "Ttl".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_both_forms() {
        let read = |json: &str| serde_json::from_str::<Ttl>(json).unwrap().time();
        for (json, seconds) in [
            ("90", 90),
            ("\"90\"", 90),
            ("\"5m\"", 300),
            ("\" 1h \"", 3600),
        ] {
            assert_eq!(read(json), Ok(Duration::from_secs(seconds)), "{json}");
        }
        assert_eq!(read("0.5"), Ok(Duration::from_millis(500)));
        for wrong in [
            "0",
            "-1",
            "1e300",
            "\"\"",
            "\"soon\"",
            "\"0\"",
            "\"9999999999999h\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
