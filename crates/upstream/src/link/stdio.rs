//! A server that is a process of ours: one message a line, on its standard input and output.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tidegate_core::{RawJson, Result};
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::revision::Revision;
use tidegate_mcp::revision::client::{Outbound, Said, Wording, said, unasked_answer};
use tidegate_mcp::revision::question::question_kind;
use tidegate_mcp::{Inbound, Limits, Message, RequestId, decode, single_line};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::pending::Pending;
use super::{Heard, Link, Talk, Unasked, unavailable};
use crate::config::{Command, RemoteConfig};

/// Lines that may wait to be written.
const WAITING: usize = 256;

/// The variables every program gets; nothing else of ours reaches it.
const PASSED_ON: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];

/// How long a process may take to end by itself once its input is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a line on standard error that still goes to our log.
const LONGEST_LOG_LINE: usize = 8 * 1024;

/// How deep a message of a server may nest.
const LIMITS: Limits = Limits {
    depth: 128,
    batch: 1024,
};

/// A process and the two ends of its pipes.
pub(crate) struct StdioLink {
    lines: mpsc::Sender<String>,
    pending: Arc<Pending>,
    closed: CancellationToken,
}

impl StdioLink {
    /// Starts the process.
    pub(crate) fn start(config: &RemoteConfig, command: &Command) -> Result<(Self, Unasked)> {
        let mut child = spawn(command)
            .map_err(|cause| unavailable("the source's program does not start").caused_by(cause))?;
        let pipes = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(unavailable("the source's program has no pipes"));
        };
        let (lines, to_write) = mpsc::channel(WAITING);
        let (unasked, heard) = mpsc::channel(WAITING);
        let pending = Arc::<Pending>::default();
        let closed = CancellationToken::new();
        let reader = Reader {
            name: config.name.clone(),
            pending: Arc::clone(&pending),
            lines: lines.clone(),
            unasked,
            closed: closed.clone(),
            message_bytes: config.message_bytes,
        };
        tokio::spawn(write(stdin, to_write, closed.clone()));
        tokio::spawn(reader.run(stdout));
        tokio::spawn(log(config.name.clone(), stderr));
        tokio::spawn(watch(child, closed.clone()));
        Ok((
            Self {
                lines,
                pending,
                closed,
            },
            heard,
        ))
    }
}

fn spawn(command: &Command) -> std::io::Result<Box<dyn ChildWrapper>> {
    let mut wrap = CommandWrap::with_new(&command.program, |program| {
        program
            .args(&command.args)
            .env_clear()
            .envs(
                PASSED_ON
                    .iter()
                    .filter_map(|name| Some((*name, std::env::var_os(name)?))),
            )
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &command.folder {
            program.current_dir(folder);
        }
    });
    wrap.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    wrap.spawn()
}

impl Link for StdioLink {
    fn request(&self, outbound: Outbound, _: Vec<(String, String)>) -> Talk {
        let lines = self.lines.clone();
        let cancel = move |id| {
            let wording = Wording {
                revision: Revision::NEWEST,
                terms: Default::default(),
            };
            // A pipe that is full is read by nobody, and has other worries.
            lines.try_send(wording.cancelled(id)).ok();
        };
        let talk = self.pending.begin(outbound.id, cancel);
        let (lines, closed) = (self.lines.clone(), self.closed.clone());
        let sent = async move {
            let sent = tokio::select! {
                sent = lines.send(outbound.json) => sent.is_ok(),
                () = closed.cancelled() => false,
            };
            match sent {
                true => talk,
                false => stream::iter([Err(unavailable("the source's program has ended"))]).boxed(),
            }
        };
        stream::once(sent).flatten().boxed()
    }

    fn notify(&self, json: String) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let sent = self.lines.send(json).await;
            sent.map_err(|_| unavailable("the source's program has ended"))
        })
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.closed.cancelled())
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// Owns the input of the process: a line is written whole or not at all.
async fn write(
    mut stdin: ChildStdin,
    mut lines: mpsc::Receiver<String>,
    closed: CancellationToken,
) {
    loop {
        let line = tokio::select! {
            () = closed.cancelled() => return,
            line = lines.recv() => line,
        };
        let Some(line) = line else { return };
        let mut line = single_line(&line).into_owned();
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            closed.cancel();
            return;
        }
    }
}

/// Reads what the process says.
struct Reader {
    name: String,
    pending: Arc<Pending>,
    lines: mpsc::Sender<String>,
    unasked: mpsc::Sender<Said>,
    closed: CancellationToken,
    message_bytes: usize,
}

impl Reader {
    async fn run(self, mut stdout: ChildStdout) {
        let mut splitter = LineSplitter::new(self.message_bytes);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = tokio::select! {
                () = self.closed.cancelled() => break,
                read = stdout.read(&mut buffer) => read,
            };
            let count = read.unwrap_or(0);
            if count == 0 {
                break;
            }
            for line in splitter.push(&buffer[..count]) {
                self.take(line).await;
            }
        }
        self.closed.cancel();
        self.pending.fail();
    }

    async fn take(&self, line: Line) {
        let decoded = match line {
            Line::Text(text) => decode(text, LIMITS),
            Line::TooLong => {
                tracing::warn!(
                    source = self.name,
                    "a line of the source was too long and was dropped"
                );
                return;
            }
        };
        match decoded {
            Ok(Inbound::One(message)) => self.hear(message).await,
            Ok(Inbound::Batch(messages)) => {
                for message in messages.into_iter().flatten() {
                    self.hear(message).await;
                }
            }
            Err((_, error)) => {
                tracing::warn!(
                    source = self.name,
                    error = error.message(),
                    "the source said something that is no message"
                );
            }
        }
    }

    async fn hear(&self, message: Message) {
        match message {
            Message::Response { id, answer } => {
                if !self.pending.answer(&id, answer).await {
                    tracing::debug!(source = self.name, "an answer that nobody waits for");
                }
            }
            Message::Notification { method, params } => {
                if let Some(said) = self.pending.say(said(&method, params.as_ref())) {
                    self.unasked.try_send(said).ok();
                }
            }
            Message::Request { id, method, params } => self.asked(id, &method, params),
        }
    }

    /// A question of the server: for the one request under way, or for nobody.
    fn asked(&self, id: RequestId, method: &str, params: Option<RawJson>) {
        let params = params.unwrap_or_else(RawJson::empty_object);
        let answer = unasked_answer(&id, method);
        let unheard = match question_kind(method) {
            Some(kind) => self
                .pending
                .ask(Heard::Question { id, kind, params })
                .is_some(),
            None => true,
        };
        if unheard {
            self.lines.try_send(answer).ok();
        }
    }
}

/// What the process says on standard error goes to our log.
async fn log(name: String, mut stderr: ChildStderr) {
    let mut splitter = LineSplitter::new(LONGEST_LOG_LINE);
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        for line in splitter.push(&buffer[..count]) {
            let Line::Text(text) = line else { continue };
            let line = String::from_utf8_lossy(&text);
            tracing::debug!(source = name, line = line.as_ref(), "the source says");
        }
    }
}

/// Waits for the process; ends it, and what it started, when the link is closed.
async fn watch(mut child: Box<dyn ChildWrapper>, closed: CancellationToken) {
    tokio::select! {
        _ = child.wait() => {}
        () = closed.cancelled() => {
            let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
            if ended.is_err() {
                Box::into_pin(child.kill()).await.ok();
            }
        }
    }
    closed.cancel();
}
