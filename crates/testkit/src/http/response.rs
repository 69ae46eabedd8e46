//! An HTTP response: status and headers at once, the body as it arrives.
//!
//! Must not know: the request.

use serde_json::Value;

use super::{Connection, Events};
use crate::wait_for;

/// A response whose head was read. Dropping it closes its connection.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    headers: Vec<(String, String)>,
    remaining: RemainingBody,
    connection: Connection,
}

/// What remains of the body.
#[derive(Debug)]
enum RemainingBody {
    Bytes(usize),
    Chunks { in_chunk: usize },
    UntilClosed,
}

impl HttpResponse {
    pub(super) fn new(head: &str, connection: Connection) -> Self {
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|s| s.parse().ok());
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let find = |name: &str| headers.iter().find(|(known, _)| known == name);
        let remaining = match (find("transfer-encoding"), find("content-length")) {
            (Some(_), _) => RemainingBody::Chunks { in_chunk: 0 },
            (None, Some((_, length))) => {
                RemainingBody::Bytes(length.parse().expect("a content length"))
            }
            (None, None) if matches!(status, Some(202 | 204)) => RemainingBody::Bytes(0),
            (None, None) => RemainingBody::UntilClosed,
        };
        Self {
            status: status.unwrap_or_else(|| panic!("no status in {head}")),
            headers,
            remaining,
            connection,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }

    /// Whether the body is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The next bytes of the body; `None` at its end.
    pub async fn next_bytes(&mut self) -> Option<Vec<u8>> {
        match &mut self.remaining {
            RemainingBody::Bytes(0) => None,
            RemainingBody::Bytes(remaining) => {
                let bytes = self.connection.up_to(*remaining).await?;
                *remaining -= bytes.len();
                Some(bytes)
            }
            RemainingBody::UntilClosed => self.connection.up_to(usize::MAX).await,
            RemainingBody::Chunks { in_chunk: 0 } => {
                let size = self.connection.line().await?;
                let size = usize::from_str_radix(&size, 16).expect("the size of a chunk");
                if size == 0 {
                    self.connection.line().await;
                    self.remaining = RemainingBody::Bytes(0);
                    return None;
                }
                self.remaining = RemainingBody::Chunks { in_chunk: size };
                Some(Vec::new())
            }
            RemainingBody::Chunks { in_chunk } => {
                let bytes = self.connection.up_to(*in_chunk).await?;
                *in_chunk -= bytes.len();
                if *in_chunk == 0 {
                    self.connection.line().await;
                }
                Some(bytes)
            }
        }
    }

    /// The whole body.
    pub async fn text(&mut self) -> String {
        let mut body = Vec::new();
        wait_for("the end of a body", async {
            while let Some(bytes) = self.next_bytes().await {
                body.extend(bytes);
            }
        })
        .await;
        String::from_utf8(body).expect("a body is text")
    }

    /// The whole body; panics unless it is JSON.
    pub async fn json(mut self) -> Value {
        let text = self.text().await;
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{text}"
        );
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
    }

    /// The body as events; panics unless it is an event stream.
    pub fn events(self) -> Events {
        assert!(
            self.is_stream(),
            "not an event stream: status {}, headers {:?}",
            self.status,
            self.headers
        );
        Events::new(self)
    }

    /// All messages of the response, as JSON or as events; empty if it has no body.
    pub async fn messages(self) -> Vec<Value> {
        match self.header("content-type") {
            None => Vec::new(),
            Some("text/event-stream") => self.events().remaining().await,
            Some(_) => vec![self.json().await],
        }
    }

    /// The last message of the response.
    pub async fn message(self) -> Value {
        self.messages()
            .await
            .pop()
            .expect("the response has a message")
    }

    /// The connection, for another request. The body must have been read.
    pub fn into_connection(self) -> Connection {
        self.connection
    }
}
