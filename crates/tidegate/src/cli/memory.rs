//! The commands that export and import memory entries: arguments and help.
//!
//! The doc comments are the help.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::ConfigArgs;
use super::output::OutputArgs;
use crate::config::{Environment, Flags};

/// The command that has these subcommands.
pub(super) const NAME: &str = "memory";

// No doc comment: it would become the help of the command.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Print the entries of a principal, one per line
    #[command(after_help = "Examples:\n  \
        tidegate memory export > memory.jsonl\n  \
        tidegate memory export --namespace work --principal ada > work.jsonl\n\n\
        Each line is a JSON object: namespace, key, value, tags, created, updated, expires.")]
    Export {
        /// Only entries of this namespace
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,

        #[command(flatten)]
        memory: MemoryArgs,
    },

    /// Store the entries of a file written by `export`
    #[command(after_help = "Examples:\n  \
        tidegate memory import memory.jsonl\n  \
        tidegate memory import memory.jsonl --principal ada\n  \
        tidegate memory export --source notes | tidegate memory import - --source memory\n\n\
        Every line is checked before anything is stored. An entry with the same namespace and key is\n\
        replaced, so importing twice has the same effect as importing once. Expired entries are\n\
        skipped. A line needs only `key` and `value`.")]
    Import {
        /// The file; - for stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,

        #[command(flatten)]
        memory: MemoryArgs,
    },
}

/// Which memory source, and whose entries.
#[derive(Clone, Debug, Default, Args)]
pub struct MemoryArgs {
    /// The id of the memory source; may be omitted if only one is configured
    #[arg(long, value_name = "ID")]
    pub source: Option<String>,

    /// The principal that owns the entries
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub principal: String,

    #[command(flatten)]
    pub config: ConfigArgs,
}

impl MemoryArgs {
    /// The settings that these flags override.
    pub fn flags(&self, output: OutputArgs, environment: &Environment<'_>) -> Flags {
        self.config.one_shot_flags(output, environment)
    }
}

impl MemoryCommand {
    pub fn args(&self) -> &MemoryArgs {
        match self {
            Self::Export { memory, .. } | Self::Import { memory, .. } => memory,
        }
    }
}
