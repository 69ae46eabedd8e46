//! A server that runs as a child process: one message per line on its standard input and output.

mod command;
mod environment;
mod lookup;
mod process;
mod secrets;
mod stderr;

use std::fmt;
use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tidegate_core::Result;
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::single_line;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::lookup::command_not_found;
use self::process::{Pipes, Process, Shutdown};
use self::secrets::Secrets;
use super::outgoing::flush_timeout;
use super::{MessageSink, OutgoingMessages};
use crate::error::source_failed;

pub use command::{ChildGuard, Command};
pub use environment::INHERITED_VARIABLES;

/// How long a write to a process may block before the process is ended, unless the process works on
/// requests that it has read: it may not read for as long as these take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the stderr of a process that has exited may take to arrive.
const STDERR_TIMEOUT: Duration = Duration::from_millis(500);

/// The server process of one connection.
pub(crate) struct ServerProcess {
    command: String,
    exit: Arc<OnceLock<Exit>>,
    has_guard: bool,
    /// Cancelled when the handshake has succeeded.
    connected: CancellationToken,
}

/// How a process ended.
struct Exit {
    status: ExitStatus,
    /// The last lines of its standard error.
    stderr: Vec<String>,
}

/// Why a process cannot be used as a server.
pub(crate) enum StartFailure {
    /// It could not be started.
    NotStarted(ProcessReport),
    /// It exited by itself.
    Exited(ProcessReport),
    /// It runs, but the handshake failed.
    HandshakeFailed,
}

/// What is known about a process that failed: for the log and the health, never for clients.
#[derive(Debug)]
pub(crate) struct ProcessReport {
    command: String,
    status: Option<ExitStatus>,
    stderr: Vec<String>,
}

impl fmt::Display for ProcessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "command: {}", self.command)?;
        if let Some(status) = self.status {
            write!(f, "\n{status}")?;
        }
        match self.stderr.is_empty() {
            true => f.write_str("\nstderr: (empty)"),
            false => write!(f, "\nstderr:\n{}", self.stderr.join("\n")),
        }
    }
}

impl std::error::Error for ProcessReport {}

/// Starts a process and carries messages both ways until `closed`. `alive` is cancelled at its first
/// output. The returned future is done once
/// the process has exited; it must be polled.
pub(crate) fn start(
    source: &str,
    command: &Command,
    max_message_bytes: usize,
    outgoing: OutgoingMessages,
    sink: impl MessageSink,
    closed: &CancellationToken,
    alive: &CancellationToken,
) -> Result<(ServerProcess, BoxFuture<'static, ()>)> {
    let secrets = Secrets::of(command);
    let working_directory = command.folder.as_ref();
    if let Some(missing) = working_directory.filter(|folder| !folder.is_dir()) {
        let folder = secrets.mask(&missing.display().to_string());
        let message = format!("the working directory `{folder}` does not exist; check `cwd`");
        return Err(source_failed(&message));
    }
    if let Some(message) = command_not_found(command, |name| std::env::var_os(name)) {
        return Err(source_failed(&secrets.mask(&message)));
    }
    let shown_command = command.written.clone();
    let (process, pipes) = Process::start(command).map_err(|error| {
        let report = ProcessReport {
            command: shown_command.clone(),
            status: None,
            stderr: vec![error.to_string()],
        };
        not_started(report)
    })?;
    let Pipes {
        stdin,
        stdout,
        stderr,
    } = pipes;
    let shutdown = Shutdown {
        closed: closed.clone(),
        overdue: CancellationToken::new(),
    };
    let source = source.to_owned();
    let sink = Arc::new(sink);
    let writer = Writer {
        source: source.clone(),
        stdin,
        sink: Arc::clone(&sink),
        shutdown: shutdown.clone(),
        sent_requests: 0,
    };
    tokio::spawn(writer.run(outgoing));
    tokio::spawn(read(stdout, sink, max_message_bytes, shutdown.clone()));
    let (stop, alive) = (shutdown.overdue.clone(), alive.clone());
    let stderr = stderr::forward(source.clone(), stderr, secrets, stop, alive);
    let server = ServerProcess {
        command: shown_command.clone(),
        exit: Arc::default(),
        has_guard: command.child_guard.is_some(),
        connected: CancellationToken::new(),
    };
    let exited = wait_for_exit(
        source,
        shown_command,
        process,
        tokio::spawn(stderr),
        shutdown,
        Arc::clone(&server.exit),
        server.connected.clone(),
    );
    Ok((server, Box::pin(exited)))
}

impl ServerProcess {
    /// Marks the process as connected. From now on its exit is logged; before, the failed attempt to
    /// connect reports it.
    pub(crate) fn set_connected(&self) {
        self.connected.cancel();
    }

    /// Why the handshake with this process failed, once the process has exited. `exited_itself` if it
    /// did so before we closed the connection.
    pub(crate) fn start_failure(&self, exited_itself: bool) -> StartFailure {
        let exit = self.exit.get();
        let report = ProcessReport {
            command: self.command.clone(),
            status: exit.map(|exit| exit.status),
            stderr: exit.map(|exit| exit.stderr.clone()).unwrap_or_default(),
        };
        match exit.and_then(|exit| exit.status.code()) {
            Some(ChildGuard::NOT_STARTED) if self.has_guard => StartFailure::NotStarted(report),
            _ if exited_itself => StartFailure::Exited(report),
            _ => StartFailure::HandshakeFailed,
        }
    }
}

pub(crate) fn not_started(report: ProcessReport) -> tidegate_core::Error {
    source_failed("cannot start the server process; check `command`").with_cause(report)
}

pub(crate) fn exited(report: ProcessReport) -> tidegate_core::Error {
    let status = report.status.map(|status| format!(" ({status})"));
    let message = format!(
        "the server process exited during the handshake{}",
        status.unwrap_or_default()
    );
    source_failed(&message).with_cause(report)
}

/// Owns the process's standard input: a line is written whole or not at all.
struct Writer<S> {
    source: String,
    stdin: ChildStdin,
    sink: Arc<S>,
    shutdown: Shutdown,
    /// How many requests were written.
    sent_requests: u64,
}

impl<S: MessageSink> Writer<S> {
    async fn run(mut self, mut outgoing: OutgoingMessages) {
        let shutdown = self.shutdown.clone();
        let writing = async {
            while let Some(message) = outgoing.next().await {
                let mut line = single_line(&message.json).into_owned();
                line.push('\n');
                if !self.write(line.as_bytes()).await {
                    return;
                }
                self.sent_requests = message.request.unwrap_or(self.sent_requests);
            }
        };
        tokio::select! {
            () = flush_timeout(&shutdown.closed) => {}
            () = writing => shutdown.closed.cancel(),
        }
    }

    /// Writes a line; false if that is not possible. Waits while the process works on requests that it
    /// has read: they end by their own timeouts.
    async fn write(&mut self, line: &[u8]) -> bool {
        let mut written = std::pin::pin!(self.stdin.write_all(line));
        loop {
            match timeout(WRITE_TIMEOUT, written.as_mut()).await {
                Ok(result) => return result.is_ok(),
                Err(_) if self.sink.awaits_response(self.sent_requests) => {}
                Err(_) => {
                    let source = &self.source;
                    tracing::warn!(source, "server process does not read its input; ending it");
                    // A process that does not read would not notice that its input is closed
                    // either.
                    self.shutdown.overdue.cancel();
                    return false;
                }
            }
        }
    }
}

/// Reads the process's standard output.
async fn read(
    mut stdout: ChildStdout,
    sink: Arc<impl MessageSink>,
    max_message_bytes: usize,
    shutdown: Shutdown,
) {
    let mut splitter = LineSplitter::new(max_message_bytes);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            () = shutdown.closed.cancelled() => break,
            read = stdout.read(&mut buffer) => read,
        };
        let Ok(count @ 1..) = read else { break };
        for line in splitter.push(&buffer[..count]) {
            match line {
                Line::Text(text) => sink.receive(&text),
                Line::TooLong { head, tail } => sink.receive_oversized(&head, &tail),
            }
        }
    }
    shutdown.closed.cancel();
    sink.end();
}

/// Waits for the process to exit, and logs the exit of a connected process that was not requested.
async fn wait_for_exit(
    source: String,
    command: String,
    process: Process,
    mut stderr: JoinHandle<Vec<String>>,
    shutdown: Shutdown,
    exit: Arc<OnceLock<Exit>>,
    connected: CancellationToken,
) {
    let status = process.wait(&shutdown).await;
    shutdown.closed.cancel();
    let was_requested = shutdown.overdue.is_cancelled();
    // A descendant that escaped may still hold the other end of the pipe.
    let lines = match timeout(STDERR_TIMEOUT, &mut stderr).await {
        Ok(lines) => lines,
        Err(_) => {
            shutdown.overdue.cancel();
            stderr.await
        }
    };
    let Some(status) = status else {
        return tracing::warn!(source, "server process cannot be ended");
    };
    let stderr = lines.unwrap_or_default();
    if !status.success() && !was_requested && connected.is_cancelled() {
        let stderr = stderr.join("\n");
        tracing::warn!(source, %status, command, stderr, "server process exited");
    }
    exit.set(Exit { status, stderr }).ok();
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn a_report_shows_command_status_and_stderr_but_no_environment() {
        let command = Command {
            env: vec![("TOKEN".to_owned(), "secret".to_owned())],
            ..Command::new("npx", vec!["-y".to_owned(), "server".to_owned()])
        };
        let report = ProcessReport {
            command: command.written.clone(),
            status: Some(ExitStatus::from_raw(1 << 8)),
            stderr: vec!["first".to_owned(), "last".to_owned()],
        };
        let shown_command = format!("{command:?}");
        assert!(shown_command.contains("TOKEN") && !shown_command.contains("secret"));
        let shown = report.to_string();
        assert_eq!(
            shown,
            "command: npx -y server\nexit status: 1\nstderr:\nfirst\nlast"
        );
        assert!(!shown.contains("TOKEN") && !shown.contains("secret"));
        assert!(exited(report).message().ends_with("(exit status: 1)"));
    }
}
