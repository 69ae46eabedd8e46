//! The configuration of a server process.

use std::fmt;
use std::path::PathBuf;

/// A command that runs a server. It is never passed to a shell.
#[derive(Clone)]
pub struct Command {
    /// The command line for messages, with references in place of secrets.
    pub written: String,
    pub program: String,
    pub args: Vec<String>,
    /// Environment variables in addition to [`crate::INHERITED_VARIABLES`]. May be secret.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub folder: Option<PathBuf>,
    /// Ends the process when the gateway dies.
    pub child_guard: Option<ChildGuard>,
    /// Secrets in the program, its arguments and its working directory.
    pub secrets: Vec<String>,
}

/// Shows the command line as written, and the names of the variables, not their values.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("written", &self.written)
            .field("env", &variables)
            .field("child_guard", &self.child_guard)
            .finish_non_exhaustive()
    }
}

impl Command {
    /// A command without secrets, variables or a child guard.
    pub fn new(program: impl Into<String>, args: Vec<String>) -> Self {
        let program = program.into();
        let words: Vec<&str> = std::iter::once(&program)
            .chain(&args)
            .map(String::as_str)
            .collect();
        Self {
            written: words.join(" "),
            program,
            args,
            env: Vec::new(),
            folder: None,
            child_guard: None,
            secrets: Vec::new(),
        }
    }
}

/// A program that runs a server, and ends it with all its descendants when its standard error is
/// closed at the other end.
#[derive(Clone, Debug)]
pub struct ChildGuard {
    pub program: PathBuf,
    /// The process name.
    pub name: String,
    /// The arguments before the command of the server.
    pub args: Vec<String>,
}

impl ChildGuard {
    /// The exit code of a child guard whose server could not be started.
    pub const NOT_STARTED: i32 = 127;
}
