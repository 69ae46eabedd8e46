//! One exchange over HTTP/2, without TLS and without asking first.
//!
//! Must not know: MCP.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::soon;

/// What is asked, and where.
pub(super) struct Exchange<'a> {
    pub(super) address: SocketAddr,
    pub(super) method: &'a str,
    pub(super) uri: String,
    pub(super) headers: Vec<&'a (String, String)>,
    pub(super) body: Vec<u8>,
}

impl Exchange<'_> {
    /// Asks on a connection of its own; gives the status and the body.
    pub(super) async fn run(self) -> (u16, String) {
        let stream = TcpStream::connect(self.address)
            .await
            .expect("the gateway listens");
        let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.expect("the gateway speaks HTTP/2");
        let connection = tokio::spawn(connection);
        let mut request = hyper::Request::builder().method(self.method).uri(self.uri);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Full::new(Bytes::from(self.body)))
            .expect("a request");
        let answer = soon("an answer over HTTP/2", sender.send_request(request)).await;
        let answer = answer.expect("the gateway answers");
        let status = answer.status().as_u16();
        let body = soon("a body over HTTP/2", answer.into_body().collect()).await;
        let body = body.expect("the body comes").to_bytes();
        connection.abort();
        (status, String::from_utf8_lossy(&body).into_owned())
    }
}
