//! Accepts connections up to a limit, and serves each with its timeouts, until shutdown.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response};
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connections_per_address::{ConnectionsPerAddress, CountedConnection};
use super::http2_streams::Http2Streams;
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
        let by_address = ConnectionsPerAddress::new(limits.max_connections_per_address);
        let builder = builder(limits);
        loop {
            let accepted = tokio::select! {
                () = close.cancelled() => break,
                accepted = self.accept(&permits) => accepted,
            };
            match accepted {
                Ok((stream, client, permit)) => {
                    let Some(counted) = by_address.add(client.ip()) else {
                        tracing::debug!(client = %client.ip(), "connection limit of the address reached");
                        continue;
                    };
                    let connection = HttpConnection {
                        stream,
                        limits: limits.clone(),
                        router: router.clone(),
                        close: close.clone(),
                        abort: abort.clone(),
                        _permit: permit,
                        _counted: counted,
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
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let permit = Arc::clone(permits)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let (stream, client) = self.socket.accept().await?;
        Ok((stream, client, permit))
    }
}

struct HttpConnection {
    stream: TcpStream,
    limits: TransportLimits,
    router: Router,
    close: CancellationToken,
    abort: CancellationToken,
    _permit: OwnedSemaphorePermit,
    _counted: CountedConnection,
}

impl HttpConnection {
    async fn run(self, builder: Builder<TokioExecutor>) {
        let preface = timeout(self.limits.header_timeout, wait_for_preface(&self.stream));
        let version = tokio::select! {
            // A request that arrived before the close is served.
            biased;
            version = preface => version.ok().and_then(Result::ok),
            () = self.close.cancelled() => None,
        };
        match version {
            Some(HttpVersion::One) => self.serve_http1(builder).await,
            Some(HttpVersion::Two) => self.serve_http2(builder).await,
            None => {}
        }
    }

    async fn serve_http1(self, builder: Builder<TokioExecutor>) {
        let service = TowerToHyperService::new(self.router.clone());
        self.serve(builder, service, std::future::pending()).await;
    }

    async fn serve_http2(self, builder: Builder<TokioExecutor>) {
        let limits = &self.limits;
        let streams = Http2Streams::new(limits.write_timeout, limits.header_timeout);
        let router = TowerToHyperService::new(self.router.clone());
        let of_requests = Arc::clone(&streams);
        let service = service_fn(move |request: Request<Incoming>| {
            let (response, streams) = (router.call(request), Arc::clone(&of_requests));
            async move {
                let request_in_progress = streams.begin_request();
                let response = streams.watch(response.await?);
                drop(request_in_progress);
                Ok::<_, Infallible>(response)
            }
        });
        self.serve(builder, service, streams.wait_until_idle())
            .await;
    }

    /// Serves until the connection ends. When it is closed or idle, it ends after its requests.
    async fn serve<S>(
        self,
        builder: Builder<TokioExecutor>,
        service: S,
        idle: impl Future<Output = ()>,
    ) where
        S: Service<Request<Incoming>, Response = Response<Body>>,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        set_options(&self.stream, self.limits.write_timeout);
        let stream = WriteTimeoutStream::new(self.stream, self.limits.write_timeout);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let closing_timeout = tokio::select! {
            // An error here means that the client broke the connection, which is not worth reporting.
            _ = connection.as_mut() => return,
            () = self.close.cancelled() => Duration::MAX,
            () = idle => self.limits.write_timeout,
            () = self.abort.cancelled() => return,
        };
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            // A client may still leave responses unread.
            _ = timeout(closing_timeout, connection) => {}
            () = self.abort.cancelled() => {}
        }
    }
}

#[derive(Clone, Copy)]
enum HttpVersion {
    One,
    Two,
}

/// Waits until the first bytes show the version of HTTP. Hyper detects it without a timeout, so a
/// silent connection would stay open forever.
async fn wait_for_preface(stream: &TcpStream) -> io::Result<HttpVersion> {
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
            _ if first == HTTP2_PREFACE => return Ok(HttpVersion::Two),
            _ => return Ok(HttpVersion::One),
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
