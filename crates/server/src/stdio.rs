//! The transport for one client on a pair of pipes: one message a line, nothing else on the output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{Code, Credential, Error, Scope};
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::single_line;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Transports;
use crate::dispatch::Peer;
use crate::duplex_transport::Pipe;

/// How long the last answers may take to go out once the time to drain is over.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until the input ends, the output breaks or `stop` is cancelled; then lets calls under way
/// finish within the time to drain. A client that has closed the input and then asks to stop is not
/// kept waiting.
pub async fn serve_stdio(
    transports: &Arc<Transports>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) -> io::Result<()> {
    let caller = transports
        .identify
        .identify(Credential::Process)
        .await
        .map_err(io::Error::other)?;
    let (pipe, said) = Pipe::new(
        transports,
        Peer {
            caller,
            scope: Scope::All,
        },
    );
    let writer = tokio::spawn(write(said, output, pipe.ended.clone()));
    let read = tokio::select! {
        read = read(&pipe, transports.limits.max_message_bytes, input) => read,
        () = pipe.ended.cancelled() => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    transports.drain();
    let grace = Grace::new(transports.limits.shutdown_timeout, stop);
    tokio::select! {
        () = pipe.answered() => {}
        () = grace.over() => tracing::warn!("ending what is still under way"),
    }
    pipe.ended.cancel();
    transports.end().await;
    drop(pipe);
    read.and(written(writer, &grace).await)
}

/// How long what is under way may still take.
struct Grace {
    deadline: Instant,
    /// A client that has closed the input and then sends a signal does not want to wait.
    hurry: Option<CancellationToken>,
}

impl Grace {
    fn new(drain: Duration, stop: CancellationToken) -> Self {
        let hurry = (!stop.is_cancelled()).then_some(stop);
        Self {
            deadline: Instant::now() + drain,
            hurry,
        }
    }

    async fn over(&self) {
        let hurry = async {
            match &self.hurry {
                Some(hurry) => hurry.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = tokio::time::sleep_until(self.deadline) => {}
            () = hurry => {}
        }
    }
}

/// The end of the writer. A client that does not take the last words in time does not get them.
async fn written(mut writer: JoinHandle<io::Result<()>>, grace: &Grace) -> io::Result<()> {
    let late = async {
        grace.over().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        written = &mut writer => written.map_err(io::Error::other)?,
        () = late => {
            writer.abort();
            Ok(())
        }
    }
}

async fn read(pipe: &Arc<Pipe>, limit: usize, mut input: impl AsyncRead + Unpin) -> io::Result<()> {
    let mut lines = LineSplitter::new(limit);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = input.read(&mut buffer).await?;
        let complete = match count {
            0 => lines.finish().into_iter().collect(),
            count => lines.push(&buffer[..count]),
        };
        for line in complete {
            take(pipe, line, limit).await;
        }
        if count == 0 {
            return Ok(());
        }
    }
}

async fn take(pipe: &Arc<Pipe>, line: Line, limit: usize) {
    match line {
        Line::Text(text) => pipe.take(text).await,
        Line::TooLong { .. } => {
            let message = format!("the line is longer than {limit} bytes and was dropped");
            pipe.refuse(&Error::client(Code::TooLarge, message).into())
                .await;
        }
    }
}

/// Writes what is said. A reader that is gone ends the pipe, and is no error.
async fn write(
    mut said: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
    ended: CancellationToken,
) -> io::Result<()> {
    while let Some(json) = said.recv().await {
        let mut line = single_line(&json).into_owned();
        line.push('\n');
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            ended.cancel();
            return match error.kind() {
                io::ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            };
        }
    }
    Ok(())
}
