//! The command line: its commands, flags and help.
//!
//! Knows what may be asked for; `check` and `schema` are answered here, all else is not.

mod args;
pub mod check;
mod look;
mod memory;
pub mod schema;

#[cfg(test)]
mod tests;

pub use args::{CheckArgs, ConfigArgs, KeepArgs, ServeArgs, StdioArgs};
pub use look::{Kind, Look, LookArgs};
pub use memory::{MemoryArgs, MemoryCommand};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::{LOG_LEVEL, OVERRIDES, Override, default_of};

/// Tidegate: every MCP client works with every MCP server.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        tidegate serve                        serve on http://127.0.0.1:8080/mcp\n  \
        tidegate serve --config team.yaml     the same, as team.yaml says\n  \
        tidegate stdio                        serve the one client that starts this process\n  \
        tidegate check                        see what is wrong with ./tidegate.yaml, if anything\n  \
        tidegate ls                           see what clients would be offered\n  \
        tidegate call system__health          call a tool\n\n\
        Exit codes: 0 done, 1 it failed, 2 wrong usage or configuration."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can be asked for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve clients over HTTP
    #[command(after_help = "Examples:\n  \
        tidegate serve\n  \
        tidegate serve --config team.yaml\n  \
        tidegate serve --listen 127.0.0.1:9000 --log-level debug")]
    Serve(ServeArgs),

    /// Serve one client over stdin and stdout
    #[command(after_help = "Examples:\n  \
        tidegate stdio\n  \
        tidegate stdio --config team.yaml --log-level warn\n\n\
        The client starts this command itself: name it in the client's list of MCP servers.")]
    Stdio(StdioArgs),

    /// Check the configuration and say what would run
    #[command(after_help = "Examples:\n  \
        tidegate check\n  \
        tidegate check --config team.yaml --json\n\n\
        Exit codes: 0 the configuration is good, 2 it is not.")]
    Check(CheckArgs),

    #[command(flatten)]
    Look(Look),

    /// Carry memories from and to files
    #[command(name = memory::NAME, subcommand, arg_required_else_help = true, disable_help_subcommand = true)]
    Memory(MemoryCommand),

    /// Print the JSON Schema of the configuration file
    #[command(after_help = "Example:\n  \
        tidegate schema > tidegate.schema.json\n\n\
        Editors that know the schema complete and check the file: begin tidegate.yaml with\n  \
        # yaml-language-server: $schema=tidegate.schema.json")]
    Schema,

    /// Run a server for a gateway, and end it with the gateway (for Tidegate's own use)
    #[cfg(target_os = "linux")]
    #[command(name = KEEP, hide = true)]
    Keep(KeepArgs),
}

/// The command that keeps a server.
pub(crate) const KEEP: &str = "keep";

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why there is nothing to run: help or the version was asked for, or the usage was wrong.
#[derive(Debug)]
pub struct Stop {
    /// For stdout when `exit` is [`Exit::Done`], else for stderr.
    pub text: String,
    pub exit: Exit,
}

/// Reads the arguments; the first is the name of the program.
pub fn parse<I, T>(args: I) -> Result<Cli, Stop>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let matches = with_overrides(Cli::command()).try_get_matches_from(args);
    matches
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(|error| Stop {
            text: error.to_string(),
            exit: if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            },
        })
}

/// Adds to the help of each flag what else sets it, and what holds when nothing does. clap could
/// read the variables itself, but then it alone would know that a flag beats them.
fn with_overrides(command: clap::Command) -> clap::Command {
    with_each(command, |sub| {
        let quiet = is_quiet(&sub);
        let within = with_each(sub, |sub| sub.mut_args(|arg| with_override(arg, quiet)));
        within.mut_args(|arg| with_override(arg, quiet))
    })
}

fn with_each(
    mut command: clap::Command,
    change: impl Fn(clap::Command) -> clap::Command,
) -> clap::Command {
    let subs = command.get_subcommands();
    let names: Vec<String> = subs.map(|sub| sub.get_name().into()).collect();
    for name in names {
        command = command.mut_subcommand(name, &change);
    }
    command
}

/// Whether a command logs only what is wrong, because it runs for a moment and prints data.
pub(crate) fn is_quiet(command: &clap::Command) -> bool {
    look::is_one(command) || command.get_name() == memory::NAME
}

fn with_override(arg: clap::Arg, quiet: bool) -> clap::Arg {
    let flag = arg
        .get_long()
        .map(|long| format!("--{long}"))
        .unwrap_or_default();
    let Some(setting) = OVERRIDES.iter().find(|setting| setting.flag == flag) else {
        return arg;
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default = default_for(setting, quiet)
        .map(|text| format!(" [default: {text}]"))
        .unwrap_or_default();
    arg.help(format!("{help} [env: {}]{default}", setting.variable))
}

/// What holds where nothing sets it. Of the log, whoever looks wants to see only what is wrong.
pub(crate) fn default_for(setting: &Override, quiet: bool) -> Option<String> {
    if quiet && setting.flag == LOG_LEVEL.flag {
        return Some(look::LOG_LEVEL.to_string());
    }
    setting.field().and_then(default_of)
}
