//! Takes connections, each within its bounds of time and size, until told to stop.

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

use super::stall::NoStall;
use crate::Limits;

/// How long to wait when the system has no room for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// How long to wait for more of a beginning that could be either HTTP.
const UNDECIDED: Duration = Duration::from_millis(20);

/// Streams that one HTTP/2 connection may have open at once.
const HTTP2_STREAMS: u32 = 100;

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

    /// Serves until `stop`; then takes no more connections and lets those it has finish what they
    /// are at, until `cut` ends them.
    pub(super) async fn serve(
        self,
        router: Router,
        limits: &Limits,
        stop: CancellationToken,
        cut: CancellationToken,
    ) {
        let connections = TaskTracker::new();
        let room = Arc::new(Semaphore::new(limits.max_connections));
        let builder = builder(limits);
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.accept(&room) => accepted,
            };
            match accepted {
                Ok((stream, permit)) => {
                    let connection = Connection {
                        stream,
                        limits: limits.clone(),
                        router: router.clone(),
                        stop: stop.clone(),
                        cut: cut.clone(),
                        _permit: permit,
                    };
                    connections.spawn(connection.run(builder.clone()));
                }
                Err(error) if is_its_own(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(NO_ROOM).await;
                }
            }
        }
        drop(self.socket);
        connections.close();
        connections.wait().await;
    }

    /// Waits for room, then for a connection.
    async fn accept(&self, room: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let permit = Arc::clone(room)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let (stream, _) = self.socket.accept().await?;
        Ok((stream, permit))
    }
}

struct Connection {
    stream: TcpStream,
    limits: Limits,
    router: Router,
    stop: CancellationToken,
    cut: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(self, builder: Builder<TokioExecutor>) {
        let begins = timeout(self.limits.header_timeout, begins(&self.stream));
        let begun = tokio::select! {
            // What has arrived before the transport closed is served.
            biased;
            begun = begins => matches!(begun, Ok(Ok(()))),
            () = self.stop.cancelled() => false,
        };
        if !begun {
            return;
        }
        set_options(&self.stream, self.limits.write_timeout);
        let stream = NoStall::new(self.stream, self.limits.write_timeout);
        let service = TowerToHyperService::new(self.router);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut stopping = false;
        loop {
            tokio::select! {
                // A client that breaks its connection is its own affair.
                _ = connection.as_mut() => return,
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.cut.cancelled() => return,
            }
        }
    }
}

/// Waits until a connection says which HTTP it speaks. The server looks at that without a clock, so
/// whoever says nothing would stay for ever.
async fn begins(stream: &TcpStream) -> io::Result<()> {
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut first = [0; HTTP2.len()];
    loop {
        stream.readable().await?;
        let count = stream.peek(&mut first).await?;
        let undecided = count < HTTP2.len() && HTTP2.starts_with(&first[..count]);
        match count {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if undecided => tokio::time::sleep(UNDECIDED).await,
            _ => return Ok(()),
        }
    }
}

/// Whether the failure is one connection's alone, and the next may well be taken.
fn is_its_own(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Small answers go out at once, and a peer that vanished without a word is noticed. A socket that
/// cannot do either still works.
fn set_options(stream: &TcpStream, patience: Duration) {
    let socket = SockRef::from(stream);
    socket.set_tcp_nodelay(true).ok();
    socket.set_tcp_user_timeout(Some(patience)).ok();
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
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
        .max_concurrent_streams(HTTP2_STREAMS)
        .max_header_list_size(max_header_bytes)
        .keep_alive_interval(Some(Duration::from_secs(20)))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}
