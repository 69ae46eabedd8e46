//! What may also be set by a flag or a variable, and which of them wins.
//!
//! Knows neither clap nor what the values mean.

use std::path::PathBuf;

use super::environment::Environment;
use super::log::{LogFormat, LogLevel};
use super::problem::Origin;

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
    /// An address that others can reach may go without keys.
    pub insecure: bool,
    pub log_level: Option<LogLevel>,
    pub log_format: Option<LogFormat>,
    /// Whether there is a capability index.
    pub resources_enabled: Option<String>,
    pub resources_cache_ttl: Option<String>,
}

/// A setting that the file is not the only place for.
#[derive(Debug)]
pub(crate) struct Override {
    pub(crate) sets: Sets,
    pub(crate) flag: &'static str,
    pub(crate) variable: &'static str,
}

/// What of the configuration it sets.
#[derive(Debug)]
pub(crate) enum Sets {
    /// Which file is read.
    File,
    /// What is at this path in the file.
    Field(&'static str),
    /// This field of the capability index, under whatever name it is in the file.
    OfIndex(&'static str),
}

impl Override {
    /// Its path in the file, if it has one.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self.sets {
            Sets::Field(field) => Some(field),
            Sets::File | Sets::OfIndex(_) => None,
        }
    }
}

pub(crate) const CONFIG: Override = Override {
    sets: Sets::File,
    flag: "--config",
    variable: "TIDEGATE_CONFIG",
};
pub(crate) const LISTEN: Override = Override {
    sets: Sets::Field("listen"),
    flag: "--listen",
    variable: "TIDEGATE_LISTEN",
};
pub(crate) const DATA_DIR: Override = Override {
    sets: Sets::Field("data_dir"),
    flag: "--data-dir",
    variable: "TIDEGATE_DATA_DIR",
};
pub(crate) const LOG_LEVEL: Override = Override {
    sets: Sets::Field("log.level"),
    flag: "--log-level",
    variable: "TIDEGATE_LOG_LEVEL",
};
pub(crate) const LOG_FORMAT: Override = Override {
    sets: Sets::Field("log.format"),
    flag: "--log-format",
    variable: "TIDEGATE_LOG_FORMAT",
};

pub(crate) const RESOURCES_ENABLED: Override = Override {
    sets: Sets::OfIndex("enabled"),
    flag: "--resources-enabled",
    variable: "TIDEGATE_RESOURCES_ENABLED",
};
pub(crate) const RESOURCES_CACHE_TTL: Override = Override {
    sets: Sets::OfIndex("cache_ttl"),
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

/// All of them, for the help and the reference.
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
    /// The value that wins, and where it was given: flag, variable, file.
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
