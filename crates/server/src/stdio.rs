//! The stdio transport: one client, one message per line, nothing else on the output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{AffinityKey, Code, Credential, Error, Scope};
use tidegate_mcp::lines::{Line, LineSplitter};
use tidegate_mcp::single_line;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Transports;
use crate::duplex_transport::DuplexConnection;
use crate::outgoing::Outgoing;
use crate::requester::Requester;

/// How long the last responses may take to be written after the shutdown timeout.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until the input ends, the output breaks or `stop` is cancelled. Calls in flight may then
/// continue for the shutdown timeout. A client that has closed the input can shorten it with `stop`.
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
    let requester = Requester {
        affinity: Some(AffinityKey::generate()),
        caller,
        scope: Scope::All,
    };
    let (connection, outgoing) = DuplexConnection::new(transports, requester);
    let writer = tokio::spawn(write(outgoing, output, connection.ended.clone()));
    let read = tokio::select! {
        read = read(&connection, transports.limits.max_message_bytes, input) => read,
        () = connection.ended.cancelled() => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    transports.begin_drain();
    let deadline = ShutdownDeadline::new(transports.limits.shutdown_timeout, stop);
    tokio::select! {
        () = connection.wait_for_calls() => {}
        () = deadline.reached() => tracing::warn!("shutdown timeout: cancelling calls in flight"),
    }
    connection.ended.cancel();
    transports.abort().await;
    drop(connection);
    read.and(finish_writing(writer, &deadline).await)
}

/// When calls in flight are cancelled.
struct ShutdownDeadline {
    timeout: Instant,
    /// Cancelled by a client that has closed the input and does not want to wait.
    stop: Option<CancellationToken>,
}

impl ShutdownDeadline {
    fn new(timeout: Duration, stop: CancellationToken) -> Self {
        Self {
            timeout: Instant::now() + timeout,
            stop: (!stop.is_cancelled()).then_some(stop),
        }
    }

    async fn reached(&self) {
        let stopped = async {
            match &self.stop {
                Some(stop) => stop.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = tokio::time::sleep_until(self.timeout) => {}
            () = stopped => {}
        }
    }
}

/// Waits for the writer. A client that does not read the last responses in time does not get them.
async fn finish_writing(
    mut writer: JoinHandle<io::Result<()>>,
    deadline: &ShutdownDeadline,
) -> io::Result<()> {
    let timeout = async {
        deadline.reached().await;
        tokio::time::sleep(FLUSH_TIMEOUT).await;
    };
    tokio::select! {
        written = &mut writer => written.map_err(io::Error::other)?,
        () = timeout => {
            writer.abort();
            Ok(())
        }
    }
}

async fn read(
    connection: &Arc<DuplexConnection>,
    max_bytes: usize,
    mut input: impl AsyncRead + Unpin,
) -> io::Result<()> {
    let mut splitter = LineSplitter::new(max_bytes);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = input.read(&mut buffer).await?;
        let lines = match count {
            0 => splitter.finish().into_iter().collect(),
            count => splitter.push(&buffer[..count]),
        };
        for line in lines {
            receive(connection, line, max_bytes).await;
        }
        if count == 0 {
            return Ok(());
        }
    }
}

async fn receive(connection: &Arc<DuplexConnection>, line: Line, max_bytes: usize) {
    match line {
        Line::Text(text) => connection.receive(text).await,
        Line::TooLong { .. } => {
            let message = format!("the line exceeds the limit of {max_bytes} bytes");
            let error = Error::client(Code::TooLarge, message);
            connection.reject(&error.into()).await;
        }
    }
}

/// Writes outgoing messages. A client that has closed its end is not an error: the connection ends.
async fn write(
    mut outgoing: mpsc::Receiver<Arc<Outgoing>>,
    mut output: impl AsyncWrite + Unpin,
    ended: CancellationToken,
) -> io::Result<()> {
    while let Some(message) = outgoing.recv().await {
        let mut line = single_line(message.json()).into_owned();
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
