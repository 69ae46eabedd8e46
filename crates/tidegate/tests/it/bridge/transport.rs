//! The transport of a client: messages of all its streams, in one queue.
//!
//! Must not know: what a message means.

mod http;
mod readers;

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;
use tidegate_testkit::{Client, wait_for};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::support::Home;
use http::Http;
use readers::{ReaderTask, read_events};

/// Capacity of the queue.
const CAPACITY: usize = 1024;

/// The connection of a client.
pub(super) struct ClientTransport {
    connection: Connection,
    inbox: mpsc::Receiver<Value>,
    sender: mpsc::Sender<Value>,
}

enum Connection {
    Http(Http),
    Sse {
        post: Client,
        _reading: ReaderTask,
    },
    Stdio {
        input: Option<ChildStdin>,
        process: Child,
        _reading: ReaderTask,
        _home: Home,
    },
}

impl ClientTransport {
    fn of(connection: impl FnOnce(&mpsc::Sender<Value>) -> Connection) -> Self {
        let (sender, inbox) = mpsc::channel(CAPACITY);
        let connection = connection(&sender);
        Self {
            connection,
            inbox,
            sender,
        }
    }

    pub(super) fn http(address: SocketAddr, path: &str, revision: &'static str) -> Self {
        Self::of(|_| Connection::Http(Http::new(Client::new(address).at(path), revision)))
    }

    pub(super) async fn sse(address: SocketAddr) -> Self {
        let client = Client::new(address);
        let mut events = client.at("/sse").get().send().await.events();
        let endpoint = events.next().await.unwrap().data;
        Self::of(|sender| Connection::Sse {
            post: client.at(&endpoint),
            _reading: read_events(events, sender.clone(), None),
        })
    }

    pub(super) fn stdio(config: &str) -> Self {
        let home = Home::with_config(config);
        let mut command = Command::from(home.tidegate(&["stdio"]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self::of(|sender| {
            let sender = sender.clone();
            let reading = tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    let message = serde_json::from_str(&line).expect("a JSON message");
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
            });
            Connection::Stdio {
                input: process.stdin.take(),
                process,
                _reading: ReaderTask(reading),
                _home: home,
            }
        })
    }

    pub(super) async fn send(&mut self, message: &Value) {
        match &mut self.connection {
            Connection::Http(http) => Box::pin(http.send(message, &self.sender)).await,
            Connection::Sse { post, .. } => {
                assert_eq!(post.post(message).send().await.status, 202, "{message}");
            }
            Connection::Stdio { input, .. } => {
                let input = input.as_mut().expect("an open input");
                input
                    .write_all(format!("{message}\n").as_bytes())
                    .await
                    .unwrap();
            }
        }
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> Value {
        let next = wait_for("a message of the gateway", self.inbox.recv()).await;
        next.expect("an open connection")
    }

    /// Opens the session's own stream, over Streamable HTTP.
    pub(super) async fn open_session_stream(&mut self) {
        if let Connection::Http(http) = &mut self.connection {
            http.open_session_stream(&self.sender).await;
        }
    }

    /// Closes the stream of one request.
    pub(super) fn disconnect(&mut self, id: &Value) {
        if let Connection::Http(http) = &mut self.connection {
            http.disconnect(&id.to_string());
        }
    }

    /// Resumes the stream of a request.
    pub(super) async fn resume(&mut self, id: &Value) {
        if let Connection::Http(http) = &mut self.connection {
            http.resume(&id.to_string(), &self.sender).await;
        }
    }

    /// Disconnects; over stdio by closing the input.
    pub(super) async fn close(self) {
        if let Connection::Stdio {
            mut input,
            mut process,
            ..
        } = self.connection
        {
            input.take();
            wait_for("the gateway to end", process.wait())
                .await
                .unwrap();
        }
    }
}
