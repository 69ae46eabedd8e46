//! One exchange over HTTP/2 with prior knowledge, without TLS.
//!
//! Must not know: MCP.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

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
        let stream = wait_for("a connection for HTTP/2", TcpStream::connect(self.address))
            .await
            .expect("the server listens");
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.expect("the server supports HTTP/2");
        let connection = tokio::spawn(connection);
        let mut request = hyper::Request::builder().method(self.method).uri(self.uri);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(self.body)))
            .expect("a valid request");
        let response = wait_for("a response over HTTP/2", sender.send_request(request)).await;
        let response = response.expect("the server responds");
        let status = response.status().as_u16();
        let body = wait_for("a body over HTTP/2", response.into_body().collect()).await;
        let body = body.expect("a complete body").to_bytes();
        connection.abort();
        (status, String::from_utf8_lossy(&body).into_owned())
    }
}
