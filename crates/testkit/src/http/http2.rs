//! One exchange over HTTP/2 with prior knowledge, without TLS.
//!
//! Must not know: MCP.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::wait_for;

/// The request and its destination.
pub(super) struct Exchange<'a> {
    pub(super) address: SocketAddr,
    pub(super) method: &'a str,
    pub(super) uri: String,
    pub(super) headers: Vec<&'a (String, String)>,
    pub(super) body: Vec<u8>,
}

impl Exchange<'_> {
    /// Sends it on a connection of its own; returns the status and the body.
    pub(super) async fn run(self) -> (u16, String) {
        let builder = http2::Builder::new(TokioExecutor::new());
        let (response, _sender, connection) = self.send(&builder).await;
        let status = response.status().as_u16();
        let body = wait_for("a body over HTTP/2", response.into_body().collect()).await;
        let body = body.expect("a complete body").to_bytes();
        connection.abort();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    /// Sends it on a connection of its own that lets no byte of a body through.
    pub(super) async fn run_unread(self) -> UnreadResponse {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(0);
        let (response, sender, connection) = self.send(&builder).await;
        UnreadResponse {
            _body: response.into_body(),
            _sender: sender,
            connection,
        }
    }

    async fn send(
        self,
        builder: &http2::Builder<TokioExecutor>,
    ) -> (hyper::Response<Incoming>, Sender, JoinHandle<()>) {
        let stream = wait_for("a connection for HTTP/2", TcpStream::connect(self.address))
            .await
            .expect("the server listens");
        let handshake = builder.handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.expect("the server supports HTTP/2");
        let connection = tokio::spawn(async { connection.await.unwrap_or_default() });
        let mut request = hyper::Request::builder().method(self.method).uri(self.uri);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(self.body)))
            .expect("a valid request");
        let response = wait_for("a response over HTTP/2", sender.send_request(request)).await;
        (response.expect("the server responds"), sender, connection)
    }
}

type Sender = http2::SendRequest<Full<Bytes>>;

/// A response whose body is not read. Dropping it closes the connection.
pub struct UnreadResponse {
    _body: Incoming,
    _sender: Sender,
    connection: JoinHandle<()>,
}

impl UnreadResponse {
    /// Waits until the server has closed the connection.
    pub async fn closed_by_server(mut self) {
        let connection = &mut self.connection;
        wait_for("the server to close the connection", connection)
            .await
            .expect("the connection ends");
    }
}

impl Drop for UnreadResponse {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
