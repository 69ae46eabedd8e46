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
    /// The name of the variable in the program that introduced the setting.
    other_variable: Option<&'static str>,
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
    const fn new(target: Target, flag: &'static str, variable: &'static str) -> Self {
        Self {
            target,
            flag,
            variable,
            other_variable: None,
        }
    }

    /// The variables that set it, the preferred one first.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.variable).chain(self.other_variable)
    }

    /// The path of the field, if it has a fixed one.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self.target {
            Target::Field(field) => Some(field),
            Target::File | Target::IndexField(_) => None,
        }
    }
}

pub(crate) const CONFIG: Override = Override::new(Target::File, "--config", "TIDEGATE_CONFIG");
pub(crate) const LISTEN: Override =
    Override::new(Target::Field("listen"), "--listen", "TIDEGATE_LISTEN");
pub(crate) const DATA_DIR: Override =
    Override::new(Target::Field("data_dir"), "--data-dir", "TIDEGATE_DATA_DIR");
pub(crate) const LOG_LEVEL: Override = Override::new(
    Target::Field("log.level"),
    "--log-level",
    "TIDEGATE_LOG_LEVEL",
);
pub(crate) const LOG_FORMAT: Override = Override::new(
    Target::Field("log.format"),
    "--log-format",
    "TIDEGATE_LOG_FORMAT",
);
pub(crate) const RESOURCES_ENABLED: Override = Override {
    other_variable: Some("NEXS_RESOURCES_ENABLED"),
    ..Override::new(
        Target::IndexField("enabled"),
        "--resources-enabled",
        "TIDEGATE_RESOURCES_ENABLED",
    )
};
pub(crate) const RESOURCES_CACHE_TTL: Override = Override {
    other_variable: Some("NEXS_RESOURCES_CACHE_TTL"),
    ..Override::new(
        Target::IndexField("cache_ttl"),
        "--resources-cache-ttl",
        "TIDEGATE_RESOURCES_CACHE_TTL",
    )
};

/// All overrides, for the help and the reference.
pub(crate) const ALL: &[&Override] = &[
    &CONFIG,
    &LISTEN,
    &DATA_DIR,
    &LOG_LEVEL,
    &LOG_FORMAT,
    &RESOURCES_ENABLED,
    &RESOURCES_CACHE_TTL,
];

impl Override {
    /// The value and its origin: the flag, otherwise a variable.
    pub(crate) fn value(
        &self,
        flag: Option<String>,
        environment: &Environment<'_>,
    ) -> Option<(String, Origin)> {
        let from_flag = flag.map(|value| (value, Origin::Flag(self.flag)));
        from_flag.or_else(|| {
            self.variables()
                .find_map(|name| Some((environment.variable(name)?, Origin::Variable(name))))
        })
    }
}
