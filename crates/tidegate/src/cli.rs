//! The command line: commands, flags and help texts.
//!
//! Only parses arguments. `run` executes the commands.

mod args;
mod client;
mod exit;
mod help;
mod memory;
mod output;

#[cfg(test)]
mod tests;

pub use args::{CheckArgs, ChildGuardArgs, ConfigArgs, ServeArgs, StdioArgs};
pub use client::{ClientArgs, ClientCommand, ListKind};
pub use exit::{EarlyExit, Exit};
pub(crate) use help::{default_value, is_one_shot};
pub use memory::{MemoryArgs, MemoryCommand};
pub use output::{ColorChoice, OutputArgs};

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

/// The version with the commit it was built from, if that is known.
pub(crate) const VERSION: &str = env!("TIDEGATE_VERSION");

/// Tidegate: one MCP endpoint in front of many servers
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version = VERSION,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        tidegate serve                        serve on http://127.0.0.1:8080/mcp\n  \
        tidegate serve --config team.yaml     serve with the configuration in team.yaml\n  \
        tidegate stdio                        serve the client that starts this process\n  \
        tidegate check                        check ./tidegate.yaml\n  \
        tidegate ls                           list what the gateway offers\n  \
        tidegate call system__health          call a tool\n\n\
        Exit codes: 0 success, 1 failure, 2 wrong usage or invalid configuration."
)]
pub struct Cli {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve clients over HTTP
    #[command(after_help = "Examples:\n  \
        tidegate serve\n  \
        tidegate serve --config team.yaml\n  \
        tidegate serve --listen 127.0.0.1:9000 --log-level debug\n\n\
        SIGTERM and SIGINT stop the gateway after the calls in flight; a second one stops it at once.\n\
        SIGHUP is logged and ignored.")]
    Serve(ServeArgs),

    /// Serve one client over stdin and stdout
    #[command(after_help = "Examples:\n  \
        tidegate stdio\n  \
        tidegate stdio --config team.yaml --log-level warn\n\n\
        The client starts this command: add it to the client's list of MCP servers.")]
    Stdio(StdioArgs),

    /// Check the configuration and print a summary
    #[command(after_help = "Examples:\n  \
        tidegate check\n  \
        tidegate check --config team.yaml --json\n\n\
        Exit codes: 0 the configuration is valid, 2 it is not.")]
    Check(CheckArgs),

    #[command(flatten)]
    Client(ClientCommand),

    /// Export and import memory entries
    #[command(name = memory::NAME, subcommand, arg_required_else_help = true, disable_help_subcommand = true)]
    Memory(MemoryCommand),

    /// Print the JSON Schema of the configuration file
    #[command(after_help = "Example:\n  \
        tidegate schema > tidegate.schema.json\n\n\
        For completion and validation in an editor, start tidegate.yaml with\n  \
        # yaml-language-server: $schema=tidegate.schema.json")]
    Schema,

    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate\n  \
        tidegate completions zsh > ~/.zfunc/_tidegate\n  \
        tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },

    /// Run a server process and end it when the gateway ends (internal)
    #[cfg(target_os = "linux")]
    #[command(name = CHILD_GUARD, hide = true)]
    ChildGuard(ChildGuardArgs),
}

/// The internal command that guards a server process.
pub(crate) const CHILD_GUARD: &str = "child-guard";

/// Parses the arguments; the first is the name of the program.
pub fn parse<I, T>(args: I) -> Result<Cli, EarlyExit>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let matches = command().try_get_matches_from(args);
    matches
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(EarlyExit::from)
}

/// The whole command line, with complete help texts.
pub(crate) fn command() -> clap::Command {
    help::with_overrides(Cli::command())
}
