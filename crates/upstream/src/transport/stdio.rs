//! A server that is a process of ours: one message a line, on its standard input and output.

mod process;
mod stderr;

use std::process::ExitStatus;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tidegate_core::{Error, Result};
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::single_line;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::process::{Ending, Pipes, Process};
use crate::config::{ChildGuard, Command, RemoteConfig};
use crate::session::demultiplexer::Ear;
use crate::session::duplex::{Ends, OneWay, next_word, silence};
use crate::session::{Link as _, Unasked, unavailable};

/// How long a process may leave what we write unread before it is of no more use.
const STALL: Duration = Duration::from_secs(5);

/// How long the last words of a process that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A link, and what becomes of the process behind it.
pub(crate) struct Started {
    pub(crate) link: OneWay,
    pub(crate) unasked: Unasked,
    status: Arc<OnceLock<ExitStatus>>,
    is_kept: bool,
}

/// Starts the process, one of `unfinished` until it ends, and opens a link over its pipes.
pub(crate) fn start(
    config: &RemoteConfig,
    command: &Command,
    unfinished: &TaskTracker,
) -> Result<Started> {
    if command
        .folder
        .as_ref()
        .is_some_and(|folder| !folder.is_dir())
    {
        let message = "the folder of the source's program is not there; check its `cwd`";
        return Err(unavailable(message));
    }
    let (process, pipes) = Process::start(command).map_err(|cause| no_start().with_cause(cause))?;
    let Pipes {
        stdin,
        stdout,
        stderr,
    } = pipes;
    let (
        link,
        Ends {
            to_send,
            ear,
            unasked,
        },
    ) = OneWay::new(&config.name);
    let ending = Ending {
        closed: link.closed.clone(),
        overdue: CancellationToken::new(),
    };
    let (name, status) = (config.name.clone(), Arc::<OnceLock<_>>::default());
    tokio::spawn(write(name.clone(), stdin, to_send, ending.clone()));
    tokio::spawn(read(stdout, ear, config.max_message_bytes, ending.clone()));
    let complaints = stderr::drain(name.clone(), stderr, ending.overdue.clone());
    let complaints = tokio::spawn(complaints);
    let seeing_off = see_off(name, process, complaints, ending, Arc::clone(&status));
    link.started.spawn(unfinished.track_future(seeing_off));
    Ok(Started {
        link,
        unasked,
        status,
        is_kept: command.child_guard.is_some(),
    })
}

/// Why a program is of no use.
pub(crate) enum Failure {
    /// It could not be started.
    NoStart,
    /// It has ended by itself.
    Ended,
    /// It does not speak as it should.
    Speech,
}

impl Started {
    /// Waits until the process is gone, and says what it did.
    pub(crate) async fn failure(self) -> Failure {
        let by_itself = self.link.closed.is_cancelled();
        self.link.end().await;
        let code = self.status.get().and_then(ExitStatus::code);
        match code {
            Some(ChildGuard::NOT_STARTED) if self.is_kept => Failure::NoStart,
            _ if by_itself => Failure::Ended,
            _ => Failure::Speech,
        }
    }
}

pub(crate) fn no_start() -> Error {
    unavailable("the source's program does not start; check its `command`")
}

/// Owns the input of the process: a line is written whole or not at all.
async fn write(
    source: String,
    mut stdin: ChildStdin,
    mut lines: mpsc::Receiver<String>,
    ending: Ending,
) {
    let writing = async {
        while let Some(line) = next_word(&mut lines, &ending.closed).await {
            let mut line = single_line(&line).into_owned();
            line.push('\n');
            match timeout(STALL, stdin.write_all(line.as_bytes())).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => {
                    tracing::warn!(source, "the source does not read what it is told");
                    // It would not notice that its input is closed either.
                    return ending.overdue.cancel();
                }
            }
        }
    };
    tokio::select! {
        () = silence(&ending.closed) => {}
        () = writing => ending.closed.cancel(),
    }
}

/// Reads what the process says.
async fn read(mut stdout: ChildStdout, ear: Ear, limit: usize, ending: Ending) {
    let mut splitter = LineSplitter::new(limit);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            () = ending.closed.cancelled() => break,
            read = stdout.read(&mut buffer) => read,
        };
        let Ok(count @ 1..) = read else { break };
        for line in splitter.push(&buffer[..count]) {
            match line {
                Line::Text(text) => ear.take(&text),
                Line::TooLong { head, tail } => ear.miss(&head, &tail),
            }
        }
    }
    ending.closed.cancel();
    ear.close();
}

/// Waits for the end of the process, and tells of one that nobody wanted.
async fn see_off(
    source: String,
    process: Process,
    mut complaints: JoinHandle<Option<String>>,
    ending: Ending,
    known: Arc<OnceLock<ExitStatus>>,
) {
    let status = process.ended(&ending).await;
    ending.closed.cancel();
    let was_told = ending.overdue.is_cancelled();
    // Something that got away may still hold the other end.
    let last_words = match timeout(LAST_WORDS, &mut complaints).await {
        Ok(said) => said,
        Err(_) => {
            ending.overdue.cancel();
            complaints.await
        }
    };
    let Some(status) = status else {
        return tracing::warn!(source, "the source's program cannot be ended");
    };
    if !status.success() && !was_told {
        let last_words = last_words.ok().flatten();
        tracing::warn!(source, %status, last_words, "the source's program has ended");
    }
    known.set(status).ok();
}
