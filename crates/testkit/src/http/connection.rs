//! One TCP connection: writes bytes, reads response heads.
//!
//! Dropping it closes it at once. Must not know: what is sent.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::HttpResponse;
use crate::wait_for;

/// A connection to the server under test.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Self {
        let stream = wait_for("a TCP connection", TcpStream::connect(address)).await;
        Self {
            stream: stream.expect("the server listens"),
            unread: Vec::new(),
        }
    }

    /// Sends bytes. Write errors are ignored; the response shows whether the bytes were accepted.
    pub async fn write(&mut self, bytes: &[u8]) {
        wait_for("the peer to read", self.stream.write_all(bytes))
            .await
            .ok();
    }

    /// Reads the head of the next response.
    pub async fn response(self) -> HttpResponse {
        self.try_response().await.expect("the server responds")
    }

    /// Reads the head of the next response; `None` if the connection is closed instead.
    pub async fn try_response(mut self) -> Option<HttpResponse> {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill().await {
                return None;
            }
        };
        let head: Vec<u8> = self.unread.drain(..end).collect();
        let head = String::from_utf8(head).expect("a response head is text");
        Some(HttpResponse::new(&head, self))
    }

    /// Waits until the peer has closed the connection; discards what it still sends.
    pub async fn closed(mut self) {
        wait_for("the peer to close the connection", async {
            while self.fill().await {
                self.unread.clear();
            }
        })
        .await;
    }

    /// Reads a line without its terminator; `None` if the connection is closed before.
    pub(super) async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(at) = find(&self.unread, b"\r\n") {
                let line: Vec<u8> = self.unread.drain(..at + 2).take(at).collect();
                return Some(String::from_utf8(line).expect("a line is text"));
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    /// Reads up to that many bytes, at least one; `None` if the connection is closed before.
    pub(super) async fn up_to(&mut self, count: usize) -> Option<Vec<u8>> {
        if self.unread.is_empty() && !self.fill().await {
            return None;
        }
        let count = count.min(self.unread.len());
        Some(self.unread.drain(..count).collect())
    }

    /// Reads more bytes; false at the end.
    async fn fill(&mut self) -> bool {
        // A buffer in the future would overflow the stack of a test with many requests.
        self.unread.reserve(16 * 1024);
        let read = self.stream.read_buf(&mut self.unread);
        let count = wait_for("bytes from the server", read).await;
        count.is_ok_and(|count| count > 0)
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes
        .windows(pattern.len())
        .position(|window| window == pattern)
}
