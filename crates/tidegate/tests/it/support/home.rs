//! A temporary folder to run the program in, isolated from the settings of the machine.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::process::{Ended, Running};

/// A temporary folder that is also the user's home and data folder. Removed on drop.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(TempDir::with_prefix("tidegate-it-").unwrap())
    }

    /// With this `tidegate.yaml`.
    pub(crate) fn with_config(text: &str) -> Self {
        let home = Self::new();
        home.write("tidegate.yaml", text);
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A command that runs in this folder. Only `PATH` is inherited from the environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .current_dir(self.path());
        command
    }

    /// The program with these arguments.
    pub(crate) fn tidegate(&self, args: &[&str]) -> Command {
        let mut command = self.command(program());
        command.args(args);
        command
    }

    /// Runs the program to its end, with empty input.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        Running::start(&mut self.tidegate(args)).end()
    }
}

/// The program under test.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_tidegate")
}
