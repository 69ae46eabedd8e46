//! The process of a server: how it is started, and how it is ended together with its descendants.
//!
//! Must not know: what is written to its pipes.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{Command, environment};

/// How long a process may take to exit by itself once its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long it may take to exit after SIGTERM before it is killed. A child guard terminates and kills
/// its server itself, and is killed only if that fails.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);
const GUARD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a killed process may take to disappear. After that it is left to the system.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The process of a server, or of its child guard. Killed when dropped before it exits.
pub(super) struct Process {
    child: Child,
    /// The process group that it leads.
    group: Option<Pid>,
    has_guard: bool,
}

pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// The two stages of ending a process.
#[derive(Clone)]
pub(super) struct Shutdown {
    /// The connection is closed: nothing more is written.
    pub(super) closed: CancellationToken,
    /// The exit timeout has elapsed. The process's standard error is no longer read, which tells a
    /// child guard to end its server.
    pub(super) overdue: CancellationToken,
}

impl Process {
    pub(super) fn start(command: &Command) -> io::Result<(Self, Pipes)> {
        let mut child = prepare(command).spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let process = Self {
            group: group.and_then(Pid::from_raw),
            child,
            has_guard: command.child_guard.is_some(),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let pipes = Pipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, pipes))
    }

    /// Waits for the process to exit, and ends it once the connection is closed. None if it could not
    /// be ended.
    pub(super) async fn wait(mut self, shutdown: &Shutdown) -> Option<ExitStatus> {
        let (group, has_guard) = (self.group, self.has_guard);
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = end(group, has_guard, shutdown) => None,
        };
        if !self.has_guard {
            // Right after the exit, before the id can be reused: it may have left descendants.
            signal(group, Signal::KILL);
        }
        self.group = None;
        status
    }
}

/// Ends a process in escalating steps, each after the previous one had no effect. Returns after
/// the last step.
async fn end(group: Option<Pid>, has_guard: bool, shutdown: &Shutdown) {
    shutdown.closed.cancelled().await;
    timeout(EXIT_TIMEOUT, shutdown.overdue.cancelled())
        .await
        .ok();
    shutdown.overdue.cancel();
    if has_guard {
        sleep(GUARD_TIMEOUT).await;
    } else {
        signal(group, Signal::TERM);
        sleep(TERM_TIMEOUT).await;
    }
    signal(group, Signal::KILL);
    sleep(KILL_TIMEOUT).await;
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // The group may have ended already.
        kill_process_group(group, signal).ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A child guard notices by itself: its pipes are closed by now.
        if !self.has_guard {
            signal(self.group, Signal::KILL);
        }
    }
}

fn prepare(command: &Command) -> tokio::process::Command {
    let mut prepared = match &command.child_guard {
        Some(guard) => {
            let mut guarded = tokio::process::Command::new(&guard.program);
            guarded.arg0(&guard.name).args(&guard.args);
            guarded.arg(&command.program);
            guarded
        }
        None => tokio::process::Command::new(&command.program),
    };
    prepared
        .args(&command.args)
        .env_clear()
        .envs(environment::inherited(|name| std::env::var_os(name)))
        .envs(command.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(folder) = &command.folder {
        prepared.current_dir(folder);
    }
    prepared
}
