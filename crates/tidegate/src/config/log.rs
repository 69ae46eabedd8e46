//! What is logged, and how it looks.
//!
//! Knows no logging library.

use std::fmt;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read_error::unknown_word;

/// The section `log` as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawLog {
    /// How much is logged.
    #[schemars(extend("default" = LogLevel::default()))]
    pub(crate) level: Option<LogLevel>,

    /// How a line looks: for people or for programs.
    #[schemars(extend("default" = LogFormat::default()))]
    pub(crate) format: Option<LogFormat>,
}

// No doc comments from here on: they would become the reference text of the fields above.
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
        f.write_str(&word(self))
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&word(self))
    }
}

fn word<T: ValueEnum>(value: &T) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// The value that this word stands for.
pub(crate) fn named<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let known: Vec<String> = T::value_variants().iter().map(word).collect();
        unknown_word(name, &known.iter().map(String::as_str).collect::<Vec<_>>())
    })
}
