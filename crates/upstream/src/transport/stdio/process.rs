//! The process of a server: how it is started, and how it ends, with all that it has started.
//!
//! Must not know: what is said on its pipes.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::config::Command;

/// The variables every program gets; nothing else of ours reaches it.
const PASSED_ON: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];

/// How long a process may take to end by itself once its input is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it may take to end once it was told to, before it is killed. A child_guard tells its server
/// and kills it by itself, and is killed only if that fails.
const OBEYING: Duration = Duration::from_secs(2);
const KEEPING: Duration = Duration::from_secs(10);

/// How long what was killed may take to be gone. What is not then is left to the system.
const DYING: Duration = Duration::from_secs(5);

/// A server's process, or its child_guard's. Dropped before its end, it is ended.
pub(super) struct Process {
    child: Child,
    /// It leads a group of its own.
    group: Option<Pid>,
    is_kept: bool,
}

/// Its pipes.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// How the end is brought about.
#[derive(Clone)]
pub(super) struct Ending {
    /// The link is of no more use, and nothing more is written.
    pub(super) closed: CancellationToken,
    /// The process has had its time. Whoever reads its standard error stops, which a child_guard takes
    /// as the word to end its server.
    pub(super) overdue: CancellationToken,
}

impl Process {
    pub(super) fn start(command: &Command) -> io::Result<(Self, Pipes)> {
        let mut child = prepared(command).spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let process = Self {
            group: group.and_then(Pid::from_raw),
            child,
            is_kept: command.child_guard.is_some(),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the program has no pipes"));
        };
        let pipes = Pipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, pipes))
    }

    /// Waits for the end, and brings it about once the link is closed. None if there was none.
    pub(super) async fn ended(mut self, ending: &Ending) -> Option<ExitStatus> {
        let (group, is_kept) = (self.group, self.is_kept);
        let status = tokio::select! {
            status = self.child.wait() => status.ok(),
            () = press(group, is_kept, ending) => None,
        };
        if !self.is_kept {
            // Right after its end, before its number can be another's: it may have left something.
            signal(group, Signal::KILL);
        }
        self.group = None;
        status
    }
}

/// Ends a process in steps, each when the one before did not help. It returns when none did.
async fn press(group: Option<Pid>, is_kept: bool, ending: &Ending) {
    ending.closed.cancelled().await;
    timeout(PATIENCE, ending.overdue.cancelled()).await.ok();
    ending.overdue.cancel();
    if is_kept {
        sleep(KEEPING).await;
    } else {
        signal(group, Signal::TERM);
        sleep(OBEYING).await;
    }
    signal(group, Signal::KILL);
    sleep(DYING).await;
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // A group that is gone needs no signal.
        kill_process_group(group, signal).ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A child_guard needs no word from us: the pipes are closed by now.
        if !self.is_kept {
            signal(self.group, Signal::KILL);
        }
    }
}

fn prepared(command: &Command) -> tokio::process::Command {
    let passed_on = PASSED_ON
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut prepared = match &command.child_guard {
        Some(child_guard) => {
            let mut kept = tokio::process::Command::new(&child_guard.program);
            kept.arg0(&child_guard.name).args(&child_guard.args);
            kept.arg(&command.program);
            kept
        }
        None => tokio::process::Command::new(&command.program),
    };
    prepared
        .args(&command.args)
        .env_clear()
        .envs(passed_on)
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
