//! A client of any revision at any transport.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::support::messages::{MODERN, Modern, handshake, notification, request, watching};
use crate::support::{Events, Post, Server, Session, Stdio};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

pub(crate) trait Client {
    /// Sends a request and gives its result; a refusal fails the test.
    fn request(&mut self, method: &str, params: Value) -> Value;

    /// Subscribes as this revision does, and checks that all is agreed to.
    fn subscribe(&mut self, uris: &[String]);
}

/// The result of an answer that must have one.
#[track_caller]
fn result(what: &str, mut answer: Value) -> Value {
    assert!(answer.get("error").is_none(), "{what}: {answer}");
    answer["result"].take()
}

/// Checks the first message of a stream of changes.
#[track_caller]
fn acknowledged(first: &Value, uris: &[String]) {
    assert_eq!(first["method"], ACKNOWLEDGED, "{first}");
    let agreed = &first["params"]["notifications"]["resourceSubscriptions"];
    // A filter is a set: its order says nothing.
    let agreed = agreed.as_array().into_iter().flatten();
    let agreed: BTreeSet<_> = agreed.filter_map(Value::as_str).collect();
    let asked: BTreeSet<_> = uris.iter().map(String::as_str).collect();
    assert_eq!(agreed, asked, "{first}");
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

/// On a pipe, in either era.
pub(crate) struct Pipe {
    stdio: Stdio,
    revision: &'static str,
}

impl Pipe {
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

impl Client for Pipe {
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

/// By the oldest HTTP transport: a stream to hear, and an endpoint to speak to.
pub(crate) struct OldStream {
    address: SocketAddr,
    events: Events,
    endpoint: String,
    last: u64,
}

impl OldStream {
    pub(crate) fn open(server: &Server, revision: &'static str) -> Self {
        let get = server.post().at("/sse").method("GET");
        let mut events = Events::of(get.header("Accept", "text/event-stream").open(b""));
        let mut client = Self {
            address: server.address,
            endpoint: events.next_data().unwrap(),
            events,
            last: 0,
        };
        let hello = client.request("initialize", handshake(revision));
        assert_eq!(hello["protocolVersion"], revision);
        client.say(&notification("notifications/initialized"));
        client
    }

    fn say(&self, message: &Value) {
        let post = Post::to(self.address, &self.endpoint);
        let post = post.header("Content-Type", "application/json");
        let answer = post.send(message.to_string().as_bytes());
        assert_eq!(answer.status, 202, "{answer:?}");
    }
}

impl Client for OldStream {
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.say(&request(self.last, method, &params));
        loop {
            let message = self.events.next().expect("the stream is open");
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
