//! Settings that flags and environment variables override. Must not know clap, nor what the values
//! mean.

use std::path::PathBuf;

use tidegate_config::Environment;

use super::diagnostics::Origin;
use super::log::{LogFormat, LogLevel};

/// The flags of the command line.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
    /// Allows an address that other machines can reach, without authentication.
    pub insecure: bool,
    pub log_level: Option<LogLevel>,
    pub log_format: Option<LogFormat>,
    /// Whether the capability index is served.
    pub resources_enabled: Option<String>,
    pub resources_cache_ttl: Option<String>,
}

/// A setting that a flag and a variable override.
#[derive(Debug)]
pub(crate) struct Override {
    pub(crate) target: Target,
    pub(crate) flag: &'static str,
    pub(crate) variable: &'static str,
}

/// What an override sets.
#[derive(Debug)]
pub(crate) enum Target {
    /// The file to read.
    File,
    /// The field at this path.
    Field(&'static str),
    /// This field of the capability index, regardless of its id.
    IndexField(&'static str),
}

impl Override {
    /// The path of the field, if it has a fixed one.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self.target {
            Target::Field(field) => Some(field),
            Target::File | Target::IndexField(_) => None,
        }
    }
}

pub(crate) const CONFIG: Override = Override {
    target: Target::File,
    flag: "--config",
    variable: "TIDEGATE_CONFIG",
};
pub(crate) const LISTEN: Override = Override {
    target: Target::Field("listen"),
    flag: "--listen",
    variable: "TIDEGATE_LISTEN",
};
pub(crate) const DATA_DIR: Override = Override {
    target: Target::Field("data_dir"),
    flag: "--data-dir",
    variable: "TIDEGATE_DATA_DIR",
};
pub(crate) const LOG_LEVEL: Override = Override {
    target: Target::Field("log.level"),
    flag: "--log-level",
    variable: "TIDEGATE_LOG_LEVEL",
};
pub(crate) const LOG_FORMAT: Override = Override {
    target: Target::Field("log.format"),
    flag: "--log-format",
    variable: "TIDEGATE_LOG_FORMAT",
};

pub(crate) const RESOURCES_ENABLED: Override = Override {
    target: Target::IndexField("enabled"),
    flag: "--resources-enabled",
    variable: "TIDEGATE_RESOURCES_ENABLED",
};
pub(crate) const RESOURCES_CACHE_TTL: Override = Override {
    target: Target::IndexField("cache_ttl"),
    flag: "--resources-cache-ttl",
    variable: "TIDEGATE_RESOURCES_CACHE_TTL",
};
pub(crate) const NEXS_RESOURCES_ENABLED: Override = Override {
    variable: "NEXS_RESOURCES_ENABLED",
    ..RESOURCES_ENABLED
};
pub(crate) const NEXS_RESOURCES_CACHE_TTL: Override = Override {
    variable: "NEXS_RESOURCES_CACHE_TTL",
    ..RESOURCES_CACHE_TTL
};

/// All overrides, for the help and the reference.
pub(crate) const ALL: &[&Override] = &[
    &CONFIG,
    &LISTEN,
    &DATA_DIR,
    &LOG_LEVEL,
    &LOG_FORMAT,
    &RESOURCES_ENABLED,
    &NEXS_RESOURCES_ENABLED,
    &RESOURCES_CACHE_TTL,
    &NEXS_RESOURCES_CACHE_TTL,
];

impl Override {
    /// The value and its origin: the flag, otherwise the variable, otherwise the file.
    pub(crate) fn pick(
        &self,
        flag: Option<String>,
        environment: &Environment<'_>,
        file: Option<(String, Origin)>,
    ) -> Option<(String, Origin)> {
        let flag = flag.map(|value| (value, Origin::Flag(self.flag)));
        let variable = || {
            Some((
                environment.variable(self.variable)?,
                Origin::Variable(self.variable),
            ))
        };
        flag.or_else(variable).or(file)
    }
}
