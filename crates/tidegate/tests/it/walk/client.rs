//! Clients of any revision over any transport.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::messages::{MODERN, Modern, handshake, notification, request, watching};
use crate::support::{Events, Post, Server, Session, Stdio};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(crate) trait Client {
    /// Sends a request and returns its result; panics on an error.
    fn request(&mut self, method: &str, params: Value) -> Value;

    /// Subscribes in the way of this revision; panics unless all URIs are accepted.
    fn subscribe(&mut self, uris: &[String]);
}

/// The result; panics on an error.
#[track_caller]
fn result(what: &str, mut answer: Value) -> Value {
    assert!(answer.get("error").is_none(), "{what}: {answer}");
    answer["result"].take()
}

/// Checks the first message of a subscription stream.
#[track_caller]
fn acknowledged(first: &Value, uris: &[String]) {
    assert_eq!(first["method"], ACKNOWLEDGED, "{first}");
    let accepted = &first["params"]["notifications"]["resourceSubscriptions"];
    // A filter is a set without order.
    let accepted = accepted.as_array().into_iter().flatten();
    let accepted: BTreeSet<_> = accepted.filter_map(Value::as_str).collect();
    let requested: BTreeSet<_> = uris.iter().map(String::as_str).collect();
    assert_eq!(accepted, requested, "{first}");
}

/// Over HTTP, with a session.
pub(crate) struct Sessions {
    session: Session,
}

impl Sessions {
    pub(crate) fn open(server: &Server, path: &str, revision: &'static str) -> Self {
        Self {
            session: Session::open(server.address, path, revision),
        }
    }
}

impl Client for Sessions {
    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.session.request(method, &params);
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        answer.result()
    }

    fn subscribe(&mut self, uris: &[String]) {
        for uri in uris {
            self.session.subscribe(uri);
        }
    }
}

/// Over HTTP, without a session.
pub(crate) struct Stateless {
    address: SocketAddr,
    path: String,
}

impl Stateless {
    pub(crate) fn new(server: &Server, path: &str) -> Self {
        Self {
            address: server.address,
            path: path.to_owned(),
        }
    }

    fn post(&self) -> Post {
        Post::to(self.address, &self.path)
    }
}

impl Client for Stateless {
    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = Modern::new(method, params).post(self.post());
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        let result = answer.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        result
    }

    fn subscribe(&mut self, uris: &[String]) {
        let filter = watching(&uris.iter().map(String::as_str).collect::<Vec<_>>());
        let listen = Modern::new("subscriptions/listen", filter);
        let mut events = Events::of(listen.open(self.post()));
        acknowledged(&events.next().unwrap(), uris);
    }
}

/// Over stdio, in either era.
pub(crate) struct StdioClient {
    stdio: Stdio,
    revision: &'static str,
}

impl StdioClient {
    /// After the handshake.
    pub(crate) fn legacy(stdio: Stdio, revision: &'static str) -> Self {
        Self { stdio, revision }
    }

    pub(crate) fn modern(stdio: Stdio) -> Self {
        let revision = MODERN;
        Self { stdio, revision }
    }

    pub(crate) fn end(self) {
        self.stdio.end();
    }
}

impl Client for StdioClient {
    fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = match self.revision {
            MODERN => self.stdio.modern(method, params),
            _ => self.stdio.request(method, &params),
        };
        result(method, answer)
    }

    fn subscribe(&mut self, uris: &[String]) {
        if self.revision == MODERN {
            let filter = watching(&uris.iter().map(String::as_str).collect::<Vec<_>>());
            return acknowledged(&self.stdio.listen(filter), uris);
        }
        for uri in uris {
            let done = self.request("resources/subscribe", json!({ "uri": uri }));
            assert_eq!(done, json!({}));
        }
    }
}

/// HTTP+SSE: an event stream and an endpoint for POSTs.
pub(crate) struct SseClient {
    address: SocketAddr,
    events: Events,
    endpoint: String,
    last: u64,
}

impl SseClient {
    pub(crate) fn open(server: &Server, revision: &'static str) -> Self {
        let get = server.post().at("/sse").method("GET");
        let mut events = Events::of(get.header("Accept", "text/event-stream").open(b""));
        let mut client = Self {
            address: server.address,
            endpoint: events.next_data().unwrap(),
            events,
            last: 0,
        };
        let initialized = client.request("initialize", handshake(revision));
        assert_eq!(initialized["protocolVersion"], revision);
        client.send(&notification("notifications/initialized"));
        client
    }

    fn send(&self, message: &Value) {
        let post = Post::to(self.address, &self.endpoint);
        let post = post.header("Content-Type", "application/json");
        let answer = post.send(message.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }
}

impl Client for SseClient {
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&request(self.last, method, &params));
        loop {
            let message = self.events.next().expect("an open stream");
            if message["id"] == self.last {
                return result(method, message);
            }
        }
    }

    fn subscribe(&mut self, uris: &[String]) {
        for uri in uris {
            let done = self.request("resources/subscribe", json!({ "uri": uri }));
            assert_eq!(done, json!({}));
        }
    }
}
