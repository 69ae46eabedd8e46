//! A measured process: started, read until it prints its address, ended on drop.
//!
//! Must not know: what it does.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

/// A running program.
pub(crate) struct ChildProcess {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl ChildProcess {
    /// Starts a program whose first line on stdout is its address.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("no output")?;
        Self::of(child, output, |line| line.parse().ok())
    }

    /// Starts a program that prints its address in its log.
    pub(crate) fn start_logging(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let log = child.stderr.take().context("no log")?;
        Self::of(child, log, |line| {
            let (_, rest) = line.split_once("listening on http://")?;
            rest.split('/').next()?.parse().ok()
        })
    }

    fn of(
        child: Child,
        output: impl Read + Send + 'static,
        address: impl Fn(&str) -> Option<SocketAddr>,
    ) -> anyhow::Result<Self> {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let printed = lines.by_ref().find_map(|line| address(&line));
        let process = Self {
            child,
            address: printed.context("the program exited before it printed its address")?,
        };
        // Keep reading, so that the program can keep writing.
        thread::spawn(move || lines.for_each(drop));
        Ok(process)
    }

    /// The CPU time of all threads, user and system.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let clock = clock_getcpuclockid(Pid::from_raw(self.child.id().try_into()?))?;
        Ok(clock.now()?.into())
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A program in the folder of this one.
pub(crate) fn beside(name: &str) -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    anyhow::ensure!(
        path.is_file(),
        "{} does not exist; build it first",
        path.display()
    );
    Ok(path)
}
