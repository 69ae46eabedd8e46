//! A pseudoterminal for the program: input, output and standard error of one process.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::PATIENCE;

/// A process that runs on a terminal. It never outlives its test.
pub(crate) struct Terminal {
    child: Child,
    /// The user's side.
    master: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Starts a command with a terminal as stdin, stdout and stderr.
    pub(crate) fn start(command: &mut Command) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let side = || -> OwnedFd { open(name.as_c_str(), flags, Mode::empty()).unwrap() };
        let command = command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap();
        // Ours are closed, so that the end of the process is the end of the output.
        command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null());
        let master = File::from(master);
        let screen = Arc::default();
        read_all(master.try_clone().unwrap(), Arc::clone(&screen));
        Self {
            child,
            master,
            screen,
        }
    }

    /// Everything that was written to the terminal so far.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until the terminal shows a text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.screen().contains(text) {
            assert!(Instant::now() < deadline, "{text:?}: {}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        writeln!(self.master, "{line}").unwrap();
    }

    /// Waits for the end; returns the exit status and everything on the terminal.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // The last bytes may still be on their way to the reader.
                thread::sleep(Duration::from_millis(50));
                return (status, self.screen());
            }
            assert!(Instant::now() < deadline, "no end: {}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn read_all(mut master: File, screen: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        // Fails when the last process on the terminal has ended.
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            screen.lock().unwrap().extend_from_slice(&buffer[..count]);
        }
    });
}
