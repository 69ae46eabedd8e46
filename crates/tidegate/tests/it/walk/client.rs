//! Clients of any revision over any transport.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::messages::{MODERN, Modern, handshake, notification, request, watching};
use crate::support::{Events, Post, Server, Session, SseEndpoint, Stdio};

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
pub(crate) struct ModernClient {
    address: SocketAddr,
    path: String,
}

impl ModernClient {
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

impl Client for ModernClient {
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

/// Over HTTP+SSE.
pub(crate) struct SseClient {
    endpoint: SseEndpoint,
    events: Events,
    last_id: u64,
}

impl SseClient {
    pub(crate) fn open(server: &Server, revision: &'static str) -> Self {
        let (endpoint, events) = SseEndpoint::open(server.address, "/sse");
        let mut client = Self {
            endpoint,
            events,
            last_id: 0,
        };
        let initialized = client.request("initialize", handshake(revision));
        assert_eq!(initialized["protocolVersion"], revision);
        client
            .endpoint
            .send(&notification("notifications/initialized"));
        client
    }
}

impl Client for SseClient {
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        self.endpoint.send(&request(self.last_id, method, &params));
        loop {
            let message = self.events.next().expect("an open stream");
            if message["id"] == self.last_id {
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
