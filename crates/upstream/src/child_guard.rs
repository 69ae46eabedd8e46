//! The child_guard: a small process between the gateway and a server that is a program. When the gateway
//! is gone, however that went, it ends the server and all that the server has started.
//!
//! It is the gateway's own program under another command, and runs on one thread beside the one that
//! waits. The server gets its pipes as they are: nothing that is said passes through here.
//! Must not know: what is said.

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

use crate::ChildGuard;

/// How long a server that lost its gateway may take to notice by itself.
const GRACE: Duration = Duration::from_secs(1);

/// How long it may take to obey, once it was told to end.
const OBEYING: Duration = Duration::from_secs(2);

/// How often it is looked at what is left.
const TICK: Duration = Duration::from_millis(20);

/// Looks at what a server has left behind: so many before it is killed, and so many in all. What
/// cannot be killed is left to the system.
const POLITE_LOOKS: usize = 50;
const MOST_LOOKS: usize = 250;

/// Small: the thread that watches the gateway does little.
const STACK: usize = 128 * 1024;

/// Runs a program until it ends or the gateway does, and leaves nothing of it behind.
pub fn keep(program: &OsString, args: &[OsString]) -> ExitCode {
    let server = match start(program, args) {
        Ok(server) => server,
        Err(error) => {
            writeln!(io::stderr(), "cannot start {}: {error}", program.display()).ok();
            sweep();
            return exit(ChildGuard::NOT_STARTED);
        }
    };
    let status = wait_for(server);
    sweep();
    exit(status.map_or(ChildGuard::NOT_STARTED, code))
}

fn start(program: &OsString, args: &[OsString]) -> io::Result<Option<Pid>> {
    // What loses its parent becomes ours: nothing gets away by a group or a session of its own.
    set_child_subreaper(Some(getpid()))?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    let watch = thread::Builder::new().stack_size(STACK);
    watch.spawn(end_with_gateway)?;
    let server = Command::new(program).args(args).process_group(0).spawn()?;
    // The server alone holds its input and output, so that the gateway sees when it lets go.
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(i32::try_from(server.id()).ok().and_then(Pid::from_raw))
}

/// Waits for the server, and takes leave of whatever else ends meanwhile.
fn wait_for(server: Option<Pid>) -> Option<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == server => return Some(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends what a server has left behind.
fn sweep() {
    descendants::signal(Signal::TERM);
    for look in 0..MOST_LOOKS {
        if nothing_is_left() {
            return;
        }
        if look >= POLITE_LOOKS {
            descendants::signal(Signal::KILL);
        }
        thread::sleep(TICK);
    }
}

fn nothing_is_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Waits until nobody reads our standard error any more, which the gateway does as long as it lives
/// and wants the server to; then ends the server.
fn end_with_gateway() {
    let stderr = io::stderr();
    // Nothing is asked for: that the other end is gone is told unasked.
    let mut lifeline = [PollFd::new(&stderr, PollFlags::empty())];
    while lifeline[0].revents().is_empty() {
        poll(&mut lifeline, None).ok();
    }
    thread::sleep(GRACE);
    descendants::signal(Signal::TERM);
    thread::sleep(OBEYING);
    // Again and again, for what is being started right now. It ends with the process.
    loop {
        descendants::signal(Signal::KILL);
        thread::sleep(TICK);
    }
}

/// The code that tells how the server ended, as a shell would.
fn code(status: WaitStatus) -> i32 {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    status.exit_status().or(signal).unwrap_or(1)
}

fn exit(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
