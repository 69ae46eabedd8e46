//! A child process whose output is captured and which is killed with its test.

use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::PATIENCE;
use super::lines::Lines;

/// A child process.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

/// A child process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// With this stdout.
    pub(crate) fn start_onto(command: &mut Command, stdout: impl Into<Stdio>) -> Self {
        Self::spawn(command.stdout(stdout).stderr(Stdio::piped()))
    }

    /// With this stderr.
    pub(crate) fn start_logging_onto(command: &mut Command, stderr: impl Into<Stdio>) -> Self {
        Self::spawn(command.stdout(Stdio::piped()).stderr(stderr))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take().map_or_else(Lines::none, Lines::of),
            stderr: child.stderr.take().map_or_else(Lines::none, Lines::of),
            child,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its stdin, which stays open until it is closed or dropped.
    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().expect("the input is open")
    }

    /// Takes its stdin, for another thread to write to.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("the input is open")
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        // A process that ended but was not waited for still accepts a signal.
        kill_process(pid.unwrap(), signal).unwrap();
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        self.close_stdin();
        let status = self.wait();
        Ended {
            status,
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        }
    }

    /// Stops it with SIGTERM, as a service manager does.
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.end()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the process did not end; stderr: {}", self.stderr.so_far());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Ended {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Panics with the output unless it ended with this exit code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            Some(code),
            "{}\nstdout: {}\nstderr: {}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }
}
