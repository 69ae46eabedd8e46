//! The child guard: a small process between the gateway and a stdio server. When the gateway exits or
//! dies, it ends the server and all its descendants.
//!
//! It is the gateway's own executable with another command. The server inherits its pipes: no message
//! passes through the guard.
//! Must not know: the protocol.

mod descendants;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use crate::transport::stdio::ChildGuard;

/// How long a server may take to exit by itself after the gateway has exited.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long it may take to exit after SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);

/// The interval at which remaining descendants are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Checks for remaining descendants of a server before they are killed.
const CHECKS_BEFORE_KILL: usize = 50;

/// Checks before remaining descendants are left to the system.
const MAX_CHECKS: usize = 250;

/// The stack of the thread that watches the gateway.
const STACK_BYTES: usize = 128 * 1024;

/// Runs a command until it or the gateway exits, and ends all its descendants.
pub fn run(program: &OsString, args: &[OsString]) -> ExitCode {
    let server = match start(program, args) {
        Ok(server) => server,
        Err(error) => {
            writeln!(io::stderr(), "cannot start {}: {error}", program.display()).ok();
            end_descendants();
            return exit(ChildGuard::NOT_STARTED);
        }
    };
    let status = wait_for(server);
    end_descendants();
    exit(status.map_or(ChildGuard::NOT_STARTED, code))
}

fn start(program: &OsString, args: &[OsString]) -> io::Result<Option<Pid>> {
    // Orphaned descendants become our children, in whatever process group or session they are.
    set_child_subreaper(Some(getpid()))?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let watch = thread::Builder::new().stack_size(STACK_BYTES);
    watch.spawn(end_server_after_gateway)?;
    let server = Command::new(program).args(args).process_group(0).spawn()?;
    // Only the server holds its pipes, so that the gateway notices when it closes them.
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(i32::try_from(server.id()).ok().and_then(Pid::from_raw))
}

/// Waits for the server, and reaps every other child that exits meanwhile.
fn wait_for(server: Option<Pid>) -> Option<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == server => return Some(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends the remaining descendants of a server.
fn end_descendants() {
    descendants::signal(Signal::TERM);
    for check in 0..MAX_CHECKS {
        if has_no_children() {
            return;
        }
        if check >= CHECKS_BEFORE_KILL {
            descendants::signal(Signal::KILL);
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

fn has_no_children() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Waits until our standard error is closed at the other end, which means that the gateway has
/// exited or wants the server to end; then ends the server.
fn end_server_after_gateway() {
    let stderr = io::stderr();
    // Poll reports that the other end is closed without being asked for it.
    let mut watched = [PollFd::new(&stderr, PollFlags::empty())];
    while watched[0].revents().is_empty() {
        poll(&mut watched, None).ok();
    }
    thread::sleep(EXIT_TIMEOUT);
    descendants::signal(Signal::TERM);
    thread::sleep(TERM_TIMEOUT);
    // Repeatedly, for processes that are just being started. The loop ends with this process.
    loop {
        descendants::signal(Signal::KILL);
        thread::sleep(CHECK_INTERVAL);
    }
}

/// The exit code of the server, as a shell reports it.
fn code(status: WaitStatus) -> i32 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or(signal).unwrap_or(1)
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
