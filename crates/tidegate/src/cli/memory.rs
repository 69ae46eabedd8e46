//! The commands that carry memories from and to files: their arguments and help.
//!
//! Knows what may be asked, not how it is done. The doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ConfigArgs, look};
use crate::config::{Environment, Flags};

/// The name of the command that has these.
pub(super) const NAME: &str = "memory";

// No doc comment: it would become the help of the command.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Print what a principal keeps, one entry on each line
    #[command(after_help = "Examples:\n  \
        tidegate memory export > memory.jsonl\n  \
        tidegate memory export --namespace work --principal ada > work.jsonl\n\n\
        Each line is a JSON object: namespace, key, value, tags, created, updated, expires.")]
    Export {
        /// Only the entries of this namespace
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,

        #[command(flatten)]
        memory: MemoryArgs,
    },

    /// Keep the entries of a file that `export` has written
    #[command(after_help = "Examples:\n  \
        tidegate memory import memory.jsonl\n  \
        tidegate memory import memory.jsonl --principal ada\n  \
        tidegate memory export --source notes | tidegate memory import - --source memory\n\n\
        Every line is checked before anything is kept. An entry with the same namespace and key is\n\
        replaced, so that importing twice does no more than once; what has expired is left out.\n\
        Of a line only `key` and `value` are needed.")]
    Import {
        /// The file; - for stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,

        #[command(flatten)]
        memory: MemoryArgs,
    },
}

/// Whose memory.
#[derive(Clone, Debug, Default, Args)]
pub struct MemoryArgs {
    /// The id of the source; without it, the only one of the kind `memory`
    #[arg(long, value_name = "ID")]
    pub source: Option<String>,

    /// Whose entries
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub principal: String,

    #[command(flatten)]
    pub config: ConfigArgs,
}

impl MemoryArgs {
    /// What they say of the configuration.
    pub fn flags(&self, environment: &Environment<'_>) -> Flags {
        look::quiet(self.config.flags(), environment)
    }
}

impl MemoryCommand {
    pub fn args(&self) -> &MemoryArgs {
        match self {
            Self::Export { memory, .. } | Self::Import { memory, .. } => memory,
        }
    }
}
