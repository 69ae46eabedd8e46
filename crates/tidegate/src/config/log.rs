//! The level and format of the log. Must not know the logging library.

use std::fmt;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::suggest::unknown_value;

/// The section `log` as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct LogSection {
    /// The least severe level that is logged.
    #[schemars(extend("default" = LogLevel::default()))]
    pub(crate) level: Option<LogLevel>,

    /// The format of a line: `text` for people, `json` for programs.
    #[schemars(extend("default" = LogFormat::default()))]
    pub(crate) format: Option<LogFormat>,
}

// No doc comments: they would replace the reference text of the fields above.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_of(self))
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name_of(self))
    }
}

fn name_of<T: ValueEnum>(value: &T) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// The value with this name.
pub(crate) fn parse<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let known: Vec<String> = T::value_variants().iter().map(name_of).collect();
        unknown_value(name, &known.iter().map(String::as_str).collect::<Vec<_>>())
    })
}
