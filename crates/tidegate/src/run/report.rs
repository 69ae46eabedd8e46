//! Output that every command shares: errors on stderr, exit codes, the log.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use crate::cli::{EarlyExit, Exit, OutputArgs};
use crate::config::{Environment, Log};
use crate::log::{self, LogGuard};

/// The variable that disables colors (<https://no-color.org>).
const NO_COLOR: &str = "NO_COLOR";

/// Prints help or a usage error.
pub(super) fn print_early_exit(early: &EarlyExit) -> Exit {
    match early.exit {
        Exit::Success => write!(io::stdout(), "{}", early.text).ok(),
        Exit::Failure | Exit::Usage => write!(io::stderr(), "{}", early.text).ok(),
    };
    early.exit
}

/// Starts a new line on a terminal, which has echoed `^C` on the current one.
pub(super) fn end_line() {
    if io::stderr().is_terminal() {
        writeln!(io::stderr()).ok();
    }
}

/// Prints an error message.
pub(super) fn fail(message: &dyn Display, exit: Exit) -> Exit {
    writeln!(io::stderr(), "{message}").ok();
    exit
}

/// Prints a message about something that does not stop the command.
pub(super) fn print_warning(message: &dyn Display) {
    writeln!(io::stderr(), "{message}").ok();
}

/// The exit code of a command that printed data. A reader that closed the pipe is not an error.
pub(super) fn exit_for(printed: io::Result<Exit>) -> Exit {
    match printed {
        Ok(exit) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
        Err(error) => fail(&format_args!("tidegate: {error}"), Exit::Failure),
    }
}

/// Starts the log, with colors if stderr shows them.
pub(super) fn start_log(log: &Log, output: OutputArgs, environment: &Environment<'_>) -> LogGuard {
    let color = use_color(io::stderr().is_terminal(), output, environment);
    log::start(log, color)
}

/// Whether data on stdout is colored.
pub(super) fn use_color_on_stdout(output: OutputArgs, environment: &Environment<'_>) -> bool {
    use_color(io::stdout().is_terminal(), output, environment)
}

fn use_color(is_terminal: bool, output: OutputArgs, environment: &Environment<'_>) -> bool {
    let no_color = environment.variable(NO_COLOR).is_some() || is_dumb_terminal(environment);
    output.color.applies(is_terminal, no_color)
}

/// Whether stderr is a terminal that understands control sequences.
pub(super) fn is_interactive(environment: &Environment<'_>) -> bool {
    io::stderr().is_terminal() && !is_dumb_terminal(environment)
}

fn is_dumb_terminal(environment: &Environment<'_>) -> bool {
    environment.variable("TERM").as_deref() == Some("dumb")
}
