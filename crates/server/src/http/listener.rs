//! Accepts connections up to a limit, and serves each with its timeouts, until shutdown.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::write_timeout::WriteTimeoutStream;
use crate::TransportLimits;

/// The delay before the next accept if the system cannot accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// The delay before more bytes are read if the first ones fit both versions of HTTP.
const PREFACE_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Concurrent streams of one HTTP/2 connection.
const MAX_HTTP2_STREAMS: u32 = 100;

/// A listening socket.
pub struct Listener {
    socket: TcpListener,
}

impl Listener {
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            socket: TcpListener::bind(address).await?,
        })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `close`. Then accepts no more connections and lets the open ones finish their
    /// requests, until `abort` closes them.
    pub(super) async fn serve(
        self,
        router: Router,
        limits: &TransportLimits,
        close: CancellationToken,
        abort: CancellationToken,
    ) {
        let connections = TaskTracker::new();
        let permits = Arc::new(Semaphore::new(limits.max_connections));
        let builder = builder(limits);
        loop {
            let accepted = tokio::select! {
                () = close.cancelled() => break,
                accepted = self.accept(&permits) => accepted,
            };
            match accepted {
                Ok((stream, permit)) => {
                    let connection = HttpConnection {
                        stream,
                        limits: limits.clone(),
                        router: router.clone(),
                        close: close.clone(),
                        abort: abort.clone(),
                        _permit: permit,
                    };
                    connections.spawn(connection.run(builder.clone()));
                }
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop(self.socket);
        connections.close();
        connections.wait().await;
    }

    /// Waits for a permit, then for a connection.
    async fn accept(
        &self,
        permits: &Arc<Semaphore>,
    ) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let permit = Arc::clone(permits)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let (stream, _) = self.socket.accept().await?;
        Ok((stream, permit))
    }
}

struct HttpConnection {
    stream: TcpStream,
    limits: TransportLimits,
    router: Router,
    close: CancellationToken,
    abort: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl HttpConnection {
    async fn run(self, builder: Builder<TokioExecutor>) {
        let preface = timeout(self.limits.header_timeout, wait_for_preface(&self.stream));
        let has_preface = tokio::select! {
            // A request that arrived before the close is served.
            biased;
            preface = preface => matches!(preface, Ok(Ok(()))),
            () = self.close.cancelled() => false,
        };
        if !has_preface {
            return;
        }
        set_options(&self.stream, self.limits.write_timeout);
        let stream = WriteTimeoutStream::new(self.stream, self.limits.write_timeout);
        let service = TowerToHyperService::new(self.router);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut is_closing = false;
        loop {
            tokio::select! {
                // An error here means that the client broke the connection, which is not worth
                // reporting.
                _ = connection.as_mut() => return,
                () = self.close.cancelled(), if !is_closing => {
                    is_closing = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.abort.cancelled() => return,
            }
        }
    }
}

/// Waits until the first bytes show the version of HTTP. Hyper detects it without a timeout, so a
/// silent connection would stay open forever.
async fn wait_for_preface(stream: &TcpStream) -> io::Result<()> {
    const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut first = [0; HTTP2_PREFACE.len()];
    loop {
        stream.readable().await?;
        let count = stream.peek(&mut first).await?;
        let is_undecided =
            count < HTTP2_PREFACE.len() && HTTP2_PREFACE.starts_with(&first[..count]);
        match count {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if is_undecided => tokio::time::sleep(PREFACE_POLL_INTERVAL).await,
            _ => return Ok(()),
        }
    }
}

/// Whether the error concerns one connection only, so that the next can be accepted immediately.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Sends small responses without delay and detects clients that have disappeared. Both are
/// optional.
fn set_options(stream: &TcpStream, timeout: Duration) {
    let socket = SockRef::from(stream);
    socket.set_tcp_nodelay(true).ok();
    socket.set_tcp_user_timeout(Some(timeout)).ok();
}

fn builder(limits: &TransportLimits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(limits.max_header_bytes.max(8192));
    let max_header_bytes = u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_HTTP2_STREAMS)
        .max_header_list_size(max_header_bytes)
        .keep_alive_interval(Some(Duration::from_secs(20)))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}
