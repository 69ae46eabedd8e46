//! The flags of the commands, and what they say of the configuration.
//!
//! The doc comments are the help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::config::{Flags, LogFormat, LogLevel};

/// What every command that has a configuration takes.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// The configuration file; without it, tidegate.yaml (or .yml, .json) here, if there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The folder for data; without it, tidegate in the user's data folder
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// How much is logged
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<LogLevel>,

    /// How a line of the log looks
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    /// Offer the capability index: true or false, by itself true
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub resources_enabled: Option<String>,

    /// How long a text of the capability index may be given again
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

    /// Allow an address that other machines can reach without any keys
    #[arg(long)]
    pub insecure: bool,
}

/// The flags of `stdio`.
#[derive(Clone, Debug, Default, Args)]
pub struct StdioArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// What `keep` runs.
#[derive(Clone, Debug, Args)]
pub struct KeepArgs {
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
    /// What they say of the configuration.
    pub fn flags(&self) -> Flags {
        Flags {
            listen: self.listen.clone(),
            insecure: self.insecure,
            ..self.config.flags()
        }
    }
}

impl StdioArgs {
    /// What they say of the configuration.
    pub fn flags(&self) -> Flags {
        // No address is opened, so none can be open to all.
        Flags {
            insecure: true,
            ..self.config.flags()
        }
    }
}

impl ConfigArgs {
    pub(super) fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            listen: None,
            data_dir: self.data_dir.clone(),
            insecure: false,
            log_level: self.log_level,
            log_format: self.log_format,
            resources_enabled: self.resources_enabled.clone(),
            resources_cache_ttl: self.resources_cache_ttl.clone(),
        }
    }
}
