//! `tidegate completions`: a completion script for a shell.

use std::io::{self, Write};

use clap_complete::{Shell, generate};

use crate::cli::{self, Exit};

pub(super) fn run(shell: Shell, out: &mut dyn Write) -> io::Result<Exit> {
    let mut command = cli::command();
    let name = command.get_name().to_owned();
    // Generated in memory: clap panics if the output is closed.
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Success)
}
