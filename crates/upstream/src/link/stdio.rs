//! A server that is a process of ours: one message a line, on its standard input and output.

use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tidegate_core::Result;
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::single_line;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::ear::Ear;
use super::one_way::{Ends, OneWay};
use super::{Unasked, unavailable};
use crate::config::{Command, RemoteConfig};

/// The variables every program gets; nothing else of ours reaches it.
const PASSED_ON: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER"];

/// How long a process may take to end by itself once its input is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a line on standard error that still goes to our log.
const LONGEST_LOG_LINE: usize = 8 * 1024;

/// Starts the process and opens a link over its pipes.
pub(crate) fn start(config: &RemoteConfig, command: &Command) -> Result<(OneWay, Unasked)> {
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
    let (
        link,
        Ends {
            to_send,
            ear,
            unasked,
        },
    ) = OneWay::new(&config.name);
    let closed = &link.closed;
    tokio::spawn(write(stdin, to_send, closed.clone()));
    tokio::spawn(read(stdout, ear, config.message_bytes, closed.clone()));
    tokio::spawn(log(config.name.clone(), stderr));
    link.started.spawn(watch(child, closed.clone()));
    Ok((link, unasked))
}

fn spawn(command: &Command) -> std::io::Result<Box<dyn ChildWrapper>> {
    let passed_on = PASSED_ON
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut wrap = CommandWrap::with_new(&command.program, |program| {
        program
            .args(&command.args)
            .env_clear()
            .envs(passed_on)
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
async fn read(mut stdout: ChildStdout, ear: Ear, limit: usize, closed: CancellationToken) {
    let mut splitter = LineSplitter::new(limit);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = tokio::select! {
            () = closed.cancelled() => break,
            read = stdout.read(&mut buffer) => read,
        };
        let Ok(count @ 1..) = read else { break };
        for line in splitter.push(&buffer[..count]) {
            match line {
                Line::Text(text) => ear.take(text).await,
                Line::TooLong => {
                    let source = &ear.name;
                    tracing::warn!(source, "a line of the source was too long and was dropped");
                }
            }
        }
    }
    closed.cancel();
    ear.pending.fail();
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
async fn watch(child: Box<dyn ChildWrapper>, closed: CancellationToken) {
    let mut group = Group { child, gone: false };
    let overdue = async {
        closed.cancelled().await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        _ = group.child.wait() => {}
        () = overdue => drop(Box::into_pin(group.child.kill()).await),
    }
    group.gone = true;
    closed.cancel();
}

/// A process with all it has started. Dropped before its end, it is ended.
struct Group {
    child: Box<dyn ChildWrapper>,
    gone: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        // Not after its end: its number may be another's by then.
        if !self.gone {
            self.child.start_kill().ok();
        }
    }
}
