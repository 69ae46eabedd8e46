//! How the messages of a client travel: whatever comes, on whichever stream, comes out here one by
//! one.
//!
//! Must not know: what a message means.

mod http;
mod reading;

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;
use tidegate_testkit::{Client, wait_for};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::support::Home;
use http::Http;
use reading::{Reading, Stream, read_events};

/// Messages that may wait to be taken.
const WAITING: usize = 1024;

/// The connection of a client.
pub(super) struct Wire {
    way: Way,
    inbox: mpsc::Receiver<Value>,
    said: mpsc::Sender<Value>,
}

enum Way {
    Http(Http),
    Sse {
        post: Client,
        _reading: Reading,
    },
    Stdio {
        input: Option<ChildStdin>,
        process: Child,
        _reading: Reading,
        _home: Home,
    },
}

impl Wire {
    fn of(way: impl FnOnce(&mpsc::Sender<Value>) -> Way) -> Self {
        let (said, inbox) = mpsc::channel(WAITING);
        let way = way(&said);
        Self { way, inbox, said }
    }

    pub(super) fn http(address: SocketAddr, path: &str, revision: &'static str) -> Self {
        Self::of(|_| Way::Http(Http::new(Client::new(address).at(path), revision)))
    }

    pub(super) async fn sse(address: SocketAddr) -> Self {
        let client = Client::new(address);
        let mut events = Stream::of(client.at("/sse").get().send().await);
        let endpoint = events.next().await.unwrap().data;
        Self::of(|said| Way::Sse {
            post: client.at(&endpoint),
            _reading: read_events(events, said.clone(), None),
        })
    }

    pub(super) fn stdio(config: &str) -> Self {
        let home = Home::with_config(config);
        let mut command = Command::from(home.tidegate(&["stdio"]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self::of(|said| {
            let said = said.clone();
            let reading = tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    let message = serde_json::from_str(&line).expect("a line is a message");
                    if said.send(message).await.is_err() {
                        return;
                    }
                }
            });
            Way::Stdio {
                input: process.stdin.take(),
                process,
                _reading: Reading(reading),
                _home: home,
            }
        })
    }

    pub(super) async fn send(&mut self, message: &Value) {
        match &mut self.way {
            Way::Http(http) => Box::pin(http.send(message, &self.said)).await,
            Way::Sse { post, .. } => {
                assert_eq!(post.post(message).send().await.status, 202, "{message}");
            }
            Way::Stdio { input, .. } => {
                let input = input.as_mut().expect("the input is open");
                input
                    .write_all(format!("{message}\n").as_bytes())
                    .await
                    .unwrap();
            }
        }
    }

    /// The next message, whatever it is.
    pub(super) async fn next(&mut self) -> Value {
        let next = wait_for("a message", self.inbox.recv()).await;
        next.expect("the connection is open")
    }

    /// Opens the stream of what no request asked for, where there is one.
    pub(super) async fn stand_by(&mut self) {
        if let Way::Http(http) = &mut self.way {
            http.stand_by(&self.said).await;
        }
    }

    /// Goes away from one request.
    pub(super) fn leave(&mut self, id: &Value) {
        if let Way::Http(http) = &mut self.way {
            http.leave(&id.to_string());
        }
    }

    /// Comes back for the rest of what a request is answered.
    pub(super) async fn come_back(&mut self, id: &Value) {
        if let Way::Http(http) = &mut self.way {
            http.come_back(&id.to_string(), &self.said).await;
        }
    }

    /// Goes away for good, in good order where there is one.
    pub(super) async fn close(self) {
        if let Way::Stdio {
            mut input,
            mut process,
            ..
        } = self.way
        {
            input.take();
            wait_for("the end of the gateway", process.wait())
                .await
                .unwrap();
        }
    }
}
