//! The flags of the commands, and the settings they override.
//!
//! The doc comments are the help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::output::OutputArgs;
use crate::config::{self, Environment, Flags, LogFormat, LogLevel};

/// The default log level of commands that print data and end. The level in the file is meant for the
/// gateway that serves.
pub(super) const ONE_SHOT_LOG_LEVEL: LogLevel = LogLevel::Warn;

/// Flags of every command that reads the configuration.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// The configuration file; by default tidegate.yaml (or .yml, .json) in the current folder, if
    /// it exists
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The data folder; by default `tidegate` in the user's data folder
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// The log level
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["verbose", "quiet"])]
    pub log_level: Option<LogLevel>,

    /// The format of log lines
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// Enable or disable the capability index; without a value, enable it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub resources_enabled: Option<String>,

    /// The cache lifetime of capability-index pages
    #[arg(long, value_name = "TIME")]
    pub resources_cache_ttl: Option<String>,
}

/// The flags of `serve`.
#[derive(Clone, Debug, Default, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub config: ConfigArgs,

    /// The address and port to listen on
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,

    /// Allow an address that other machines can reach without authentication
    #[arg(long)]
    pub insecure: bool,
}

/// The flags of `stdio`.
#[derive(Clone, Debug, Default, Args)]
pub struct StdioArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// The process that `child-guard` runs.
#[derive(Clone, Debug, Args)]
pub struct ChildGuardArgs {
    pub program: OsString,

    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    pub args: Vec<OsString>,
}

/// The flags of `check`.
#[derive(Clone, Debug, Default, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub serve: ServeArgs,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl ServeArgs {
    /// The settings that these flags override.
    pub fn flags(&self, output: OutputArgs) -> Flags {
        Flags {
            listen: self.listen.clone(),
            insecure: self.insecure,
            ..self.config.flags(output)
        }
    }
}

impl StdioArgs {
    /// The settings that these flags override.
    pub fn flags(&self, output: OutputArgs) -> Flags {
        Flags {
            // No port is opened.
            insecure: true,
            ..self.config.flags(output)
        }
    }
}

impl ConfigArgs {
    fn flags(&self, output: OutputArgs) -> Flags {
        Flags {
            log_level: self.log_level.or(output.log_level(LogLevel::default())),
            ..self.without_log_level()
        }
    }

    /// The settings that these flags override, for a command that prints data and ends.
    pub(super) fn one_shot_flags(
        &self,
        output: OutputArgs,
        environment: &Environment<'_>,
    ) -> Flags {
        let log_level = match self.sets_log_level(output, environment) {
            true => self.log_level.or(output.log_level(ONE_SHOT_LOG_LEVEL)),
            false => Some(ONE_SHOT_LOG_LEVEL),
        };
        Flags {
            // No port is opened.
            insecure: true,
            log_level,
            ..self.without_log_level()
        }
    }

    /// Whether a flag or the environment selects the log level.
    pub(crate) fn sets_log_level(&self, output: OutputArgs, environment: &Environment<'_>) -> bool {
        self.log_level.is_some()
            || output.log_level(LogLevel::default()).is_some()
            || environment.variable(config::LOG_LEVEL.variable).is_some()
    }

    fn without_log_level(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            listen: None,
            data_dir: self.data_dir.clone(),
            insecure: false,
            log_level: None,
            log_format: self.log_format,
            resources_enabled: self.resources_enabled.clone(),
            resources_cache_ttl: self.resources_cache_ttl.clone(),
        }
    }
}
