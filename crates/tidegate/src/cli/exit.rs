//! How the program ends.

use std::process::ExitCode;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Success = 0,
    Failure = 1,
    /// Wrong usage or invalid configuration.
    Usage = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// There is no command to run: help or the version was requested, or the usage was wrong.
#[derive(Debug)]
pub struct EarlyExit {
    /// For stdout if `exit` is [`Exit::Success`], otherwise for stderr.
    pub text: String,
    pub exit: Exit,
}

impl From<clap::Error> for EarlyExit {
    fn from(error: clap::Error) -> Self {
        Self {
            text: error.to_string(),
            exit: match error.use_stderr() {
                true => Exit::Usage,
                false => Exit::Success,
            },
        }
    }
}
