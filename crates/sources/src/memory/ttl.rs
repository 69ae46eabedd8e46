//! The lifetime of an entry: a number of seconds, or a duration as the configuration has them, such as
//! `5m`.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use tidegate_config::HumanDuration;

/// About a hundred years; longer lifetimes are probably mistakes.
const MAX_TTL: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Ttl {
    Seconds(f64),
    Text(String),
}

impl Ttl {
    pub(super) fn duration(&self) -> Result<Duration, String> {
        let duration = match self {
            Self::Seconds(seconds) => from_seconds(*seconds),
            Self::Text(text) => parse(text.trim())?,
        };
        if duration.is_zero() {
            let message = "`ttl` must be more than 0 seconds; omit it for no expiry";
            return Err(message.to_owned());
        }
        if duration > MAX_TTL {
            let days = MAX_TTL.as_secs() / 86_400;
            return Err(format!(
                "`ttl` is too large: the limit is {days} days; omit it for no expiry"
            ));
        }
        Ok(duration)
    }
}

/// Clamps to the range of [`Duration`].
fn from_seconds(seconds: f64) -> Duration {
    let limit = if seconds > 0.0 {
        Duration::MAX
    } else {
        Duration::ZERO
    };
    Duration::try_from_secs_f64(seconds).unwrap_or(limit)
}

/// Digits alone are seconds, as in JSON.
fn parse(text: &str) -> Result<Duration, String> {
    let is_seconds = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let duration = match is_seconds {
        true => HumanDuration::parse(&format!("{text}s")),
        false => HumanDuration::parse(text),
    };
    let duration = duration.map(Duration::from);
    duration.map_err(|reason| format!("`ttl`: {reason}; omit it for no expiry"))
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
    fn accepts_seconds_and_durations() {
        let parse = |json: &str| serde_json::from_str::<Ttl>(json).unwrap().duration();
        for (json, seconds) in [
            ("90", 90),
            ("\"90\"", 90),
            ("\"5m\"", 300),
            ("\" 1h \"", 3600),
        ] {
            assert_eq!(parse(json), Ok(Duration::from_secs(seconds)), "{json}");
        }
        assert_eq!(parse("0.5"), Ok(Duration::from_millis(500)));
        for (invalid, expected) in [
            ("0", "more than 0"),
            ("-1", "more than 0"),
            ("\"0\"", "more than 0"),
            ("1e300", "the limit is 36600 days"),
            ("1e30", "too large"),
            ("\"999999999days\"", "too large"),
            ("\"9999999999999h\"", "too large"),
            ("\"99999999999999999999999days\"", "too large"),
            ("\"99999999999999999999999\"", "too large"),
            ("\"\"", "is not a duration; write"),
            ("\"soon\"", "is not a duration; write"),
            ("\"inf\"", "is not a duration; write"),
            ("\"-5\"", "is not a duration; write"),
            (
                "\"2M\"",
                "the unit `M` is ambiguous; write `2m` for minutes",
            ),
            ("\"1y\"", "unknown unit `y`; use one of ms, s, m, h, d, w"),
        ] {
            let message = parse(invalid).unwrap_err();
            assert!(message.contains(expected), "{invalid}: {message}");
        }
    }
}
