//! A child process whose output is read as it comes, and which never outlives its test.

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

    /// With this output.
    pub(crate) fn start_onto(command: &mut Command, stdout: impl Into<Stdio>) -> Self {
        Self::spawn(command.stdout(stdout).stderr(Stdio::piped()))
    }

    /// With this place for its log.
    pub(crate) fn start_logging_onto(command: &mut Command, stderr: impl Into<Stdio>) -> Self {
        Self::spawn(command.stdout(Stdio::piped()).stderr(stderr))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
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

    /// Its input, which stays open until it is dropped or closed.
    pub(crate) fn stdin(&mut self) -> &mut ChildStdin {
        self.stdin.as_mut().expect("the input is open")
    }

    /// Its input, for another to write to.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("the input is open")
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        // A process that has ended but was not waited for still takes a signal.
        kill_process(pid.unwrap(), signal).unwrap();
    }

    /// Closes the input and waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        self.close_stdin();
        let status = self.wait();
        Ended {
            status,
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        }
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.end()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let patience = Instant::now() + PATIENCE;
        while Instant::now() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the process did not end; it said: {}", self.stderr.so_far());
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

    /// Fails unless it ended with this code, and shows what it said.
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
