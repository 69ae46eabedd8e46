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
            Self::Seconds(seconds) => of_seconds(*seconds),
            Self::Text(text) => of_text(text.trim())?,
        };
        if time.is_zero() {
            let message =
                "`ttl` must be more than 0 seconds; leave it out to keep the entry for good";
            return Err(message.to_owned());
        }
        if time > LONGEST {
            let days = LONGEST.as_secs() / 86_400;
            return Err(format!(
                "`ttl` is too large: {days} days are the most; leave it out to keep the entry for \
                 good"
            ));
        }
        Ok(time)
    }
}

/// The nearest time there is.
fn of_seconds(seconds: f64) -> Duration {
    let nearest = if seconds > 0.0 {
        Duration::MAX
    } else {
        Duration::ZERO
    };
    Duration::try_from_secs_f64(seconds).unwrap_or(nearest)
}

fn of_text(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    match humantime::parse_duration(text) {
        Ok(time) => Ok(time),
        Err(humantime::DurationError::NumberOverflow) => Ok(Duration::MAX),
        Err(_) => Err(
            "`ttl` must be a number of seconds, or a time such as \"90s\", \"5m\", \"12h\" or \
             \"7days\"; leave it out to keep the entry for good"
                .to_owned(),
        ),
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
        for (wrong, fault) in [
            ("0", "more than 0"),
            ("-1", "more than 0"),
            ("\"0\"", "more than 0"),
            ("1e300", "too large: 36600 days"),
            ("1e30", "too large"),
            ("\"999999999days\"", "too large"),
            ("\"9999999999999h\"", "too large"),
            ("\"99999999999999999999999days\"", "too large"),
            ("\"99999999999999999999999\"", "too large"),
            ("\"\"", "a time such as"),
            ("\"soon\"", "a time such as"),
            ("\"inf\"", "a time such as"),
            ("\"-5\"", "a time such as"),
        ] {
            let told = read(wrong).unwrap_err();
            assert!(told.contains(fault), "{wrong}: {told}");
        }
    }
}
