//! One TCP connection: bytes out, bytes in, and the heads of answers.
//!
//! Dropping it closes it at once. Must not know: what is asked.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Answer;
use crate::soon;

/// A connection to the gateway.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Self {
        let stream = soon("a connection", TcpStream::connect(address)).await;
        Self {
            stream: stream.expect("the gateway listens"),
            unread: Vec::new(),
        }
    }

    /// Sends bytes. Whether the other side still takes them shows in what it answers.
    pub async fn write(&mut self, bytes: &[u8]) {
        soon("room to write", self.stream.write_all(bytes))
            .await
            .ok();
    }

    /// Reads the head of the next answer.
    pub async fn answer(self) -> Answer {
        self.try_answer().await.expect("the gateway answers")
    }

    /// Reads the head of the next answer; none if the connection is closed instead.
    pub async fn try_answer(mut self) -> Option<Answer> {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at + 4;
            }
            if !self.fill().await {
                return None;
            }
        };
        let head: Vec<u8> = self.unread.drain(..end).collect();
        let head = String::from_utf8(head).expect("a head is text");
        Some(Answer::new(&head, self))
    }

    /// Waits until the other side has closed; what it still sends is thrown away.
    pub async fn closed(mut self) {
        while self.fill().await {
            self.unread.clear();
        }
    }

    /// Takes a line without its end; none if the connection is closed before.
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

    /// Takes up to that many bytes, at least one; none if the connection is closed before.
    pub(super) async fn up_to(&mut self, count: usize) -> Option<Vec<u8>> {
        if self.unread.is_empty() && !self.fill().await {
            return None;
        }
        let count = count.min(self.unread.len());
        Some(self.unread.drain(..count).collect())
    }

    /// Reads some more; false at the end.
    async fn fill(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match soon("bytes from the gateway", self.stream.read(&mut buffer)).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&buffer[..count]);
                true
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}
