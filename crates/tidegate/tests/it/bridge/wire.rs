//! How the messages of a client travel: whatever comes, on whichever stream, comes out here one by
//! one.
//!
//! Must not know: what a message means, but for what HTTP must say of it.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidegate_mcp::sse::{Decoder, Event};
use tidegate_testkit::{Answer, Client, MODERN, Request, soon};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::support::Home;

/// Messages that may wait to be taken.
const WAITING: usize = 1024;

/// Longer than any event here.
const LONGEST: usize = 1 << 20;

/// From this revision on, clients repeat the revision in a header.
const SAYS_REVISION: &str = "2025-06-18";

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

struct Http {
    client: Client,
    revision: &'static str,
    session: Option<String>,
    /// What is being read of each request, by its id.
    requests: HashMap<String, Reading>,
    standing: Option<Reading>,
    last_events: Arc<Mutex<HashMap<String, String>>>,
}

/// A task that ends with its owner.
struct Reading(JoinHandle<()>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Wire {
    fn of(way: impl FnOnce(&mpsc::Sender<Value>) -> Way) -> Self {
        let (said, inbox) = mpsc::channel(WAITING);
        let way = way(&said);
        Self { way, inbox, said }
    }

    pub(super) fn http(address: SocketAddr, path: &str, revision: &'static str) -> Self {
        Self::of(|_| {
            Way::Http(Http {
                client: Client::new(address).at(path),
                revision,
                session: None,
                requests: HashMap::new(),
                standing: None,
                last_events: Arc::default(),
            })
        })
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
        let next = soon("a message", self.inbox.recv()).await;
        next.expect("the connection is open")
    }

    /// Opens the stream of what no request asked for, where there is one.
    pub(super) async fn stand_by(&mut self) {
        if let Way::Http(http) = &mut self.way {
            let events = Stream::of(http.dressed(http.client.get()).send().await);
            http.standing = Some(read_events(events, self.said.clone(), None));
        }
    }

    /// Goes away from one request.
    pub(super) fn leave(&mut self, id: &Value) {
        if let Way::Http(http) = &mut self.way {
            http.requests.remove(&id.to_string()).expect("it was sent");
        }
    }

    /// Comes back for the rest of what a request is answered.
    pub(super) async fn come_back(&mut self, id: &Value) {
        if let Way::Http(http) = &mut self.way {
            let last = http.last_events.lock().unwrap()[&id.to_string()].clone();
            let get = http.dressed(http.client.get());
            let events = Stream::of(get.header("Last-Event-ID", &last).send().await);
            let reading = read_events(events, self.said.clone(), None);
            http.requests.insert(id.to_string(), reading);
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
            soon("the end of the gateway", process.wait())
                .await
                .unwrap();
        }
    }
}

impl Http {
    /// A request is answered while other things happen; the rest is over when it is taken.
    async fn send(&mut self, message: &Value, said: &mpsc::Sender<Value>) {
        let request = self.request(message);
        let first = message.get(0).unwrap_or(message);
        if first["method"] == "initialize" {
            let answer = request.send().await;
            self.session = answer.header("mcp-session-id").map(str::to_owned);
            said.send(answer.message().await).await.unwrap();
        } else if first.get("method").is_some() && first.get("id").is_some() {
            let id = first["id"].to_string();
            let reading = read_answer(
                request,
                said.clone(),
                (id.clone(), Arc::clone(&self.last_events)),
            );
            self.requests.insert(id, reading);
        } else {
            let mut answer = request.send().await;
            let text = answer.text().await;
            assert_eq!((answer.status, text.as_str()), (202, ""), "{message}");
        }
    }

    fn request(&self, message: &Value) -> Request {
        let request = self.dressed(self.client.post(message));
        if self.revision != MODERN {
            return request;
        }
        let request = match message["method"].as_str() {
            Some(method) => request.header("Mcp-Method", method),
            None => request,
        };
        let params = &message["params"];
        let name = params["name"].as_str().or(params["uri"].as_str());
        match name {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        }
    }

    fn dressed(&self, request: Request) -> Request {
        let request = match &self.session {
            Some(session) => request.header("Mcp-Session-Id", session),
            None => request,
        };
        let says = self.session.is_some() && self.revision >= SAYS_REVISION;
        match says || self.revision == MODERN {
            true => request.header("MCP-Protocol-Version", self.revision),
            false => request,
        }
    }
}

type Place = (String, Arc<Mutex<HashMap<String, String>>>);

fn read_answer(request: Request, said: mpsc::Sender<Value>, place: Place) -> Reading {
    Reading(tokio::spawn(async move {
        let answer: Answer = request.send().await;
        if answer.is_stream() {
            pass_on(Stream::of(answer), said, Some(place)).await;
            return;
        }
        match answer.json().await {
            Value::Array(all) => {
                for one in all {
                    said.send(one).await.ok();
                }
            }
            one => drop(said.send(one).await),
        }
    }))
}

fn read_events(events: Stream, said: mpsc::Sender<Value>, place: Option<Place>) -> Reading {
    Reading(tokio::spawn(pass_on(events, said, place)))
}

/// Passes on what comes, and keeps in mind how far it came.
async fn pass_on(mut events: Stream, said: mpsc::Sender<Value>, place: Option<Place>) {
    while let Some(event) = events.next().await {
        if let (Some((id, last)), Some(at)) = (&place, &event.id) {
            last.lock().unwrap().insert(id.clone(), at.clone());
        }
        if event.data.is_empty() {
            continue;
        }
        let message = serde_json::from_str(&event.data).expect("an event carries a message");
        if said.send(message).await.is_err() {
            return;
        }
    }
}

/// The events of an answer, which may be silent for as long as they like.
struct Stream {
    answer: Answer,
    decoder: Decoder,
    waiting: VecDeque<Event>,
}

impl Stream {
    fn of(answer: Answer) -> Self {
        assert!(answer.is_stream(), "no stream but {}", answer.status);
        Self {
            answer,
            decoder: Decoder::new(LONGEST),
            waiting: VecDeque::new(),
        }
    }

    async fn next(&mut self) -> Option<Event> {
        while self.waiting.is_empty() {
            let bytes = self.answer.next_bytes().await?;
            let events = self.decoder.push(&bytes).expect("no event is that long");
            self.waiting.extend(events);
        }
        self.waiting.pop_front()
    }
}
