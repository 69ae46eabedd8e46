//! `tidegate completions`: a completion script for a shell.

use std::io::{self, Write};

use clap::Command;
use clap_complete::{Shell, generate};

use crate::cli::{self, Exit};

/// The program that the script completes.
const NAME: &str = "tidegate";

pub(super) fn run(shell: Shell, out: &mut dyn Write) -> io::Result<Exit> {
    let mut command = visible_commands(&cli::command());
    // Generated in memory: clap panics if the output is closed.
    let mut script = Vec::new();
    generate(shell, &mut command, NAME, &mut script);
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Success)
}

/// The command line without internal commands, which clap_complete would suggest.
fn visible_commands(root: &Command) -> Command {
    let subcommands = root.get_subcommands().filter(|sub| !sub.is_hide_set());
    Command::new(NAME)
        .version(cli::VERSION)
        .disable_help_subcommand(true)
        .args(root.get_arguments())
        .subcommands(subcommands)
}
