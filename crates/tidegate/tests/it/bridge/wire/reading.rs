//! What comes back over HTTP, read as it comes, and the place to come back to.
//!
//! Must not know: what a message means.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidegate_mcp::sse::{Decoder, Event};
use tidegate_testkit::{HttpResponse, Request};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Longer than any event here.
const LONGEST: usize = 1 << 20;

/// The last event of each request, to come back with.
pub(super) type Places = Arc<Mutex<HashMap<String, String>>>;

type Place = (String, Places);

/// A task that ends with its owner.
pub(super) struct Reading(pub(super) JoinHandle<()>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn read_answer(request: Request, said: mpsc::Sender<Value>, place: Place) -> Reading {
    Reading(tokio::spawn(async move {
        let answer: HttpResponse = request.send().await;
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

pub(super) fn read_events(
    events: Stream,
    said: mpsc::Sender<Value>,
    place: Option<Place>,
) -> Reading {
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
pub(super) struct Stream {
    answer: HttpResponse,
    decoder: Decoder,
    waiting: VecDeque<Event>,
}

impl Stream {
    pub(super) fn of(answer: HttpResponse) -> Self {
        assert!(answer.is_stream(), "no stream but {}", answer.status);
        Self {
            answer,
            decoder: Decoder::new(LONGEST),
            waiting: VecDeque::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        while self.waiting.is_empty() {
            let bytes = self.answer.next_bytes().await?;
            let events = self.decoder.push(&bytes).expect("no event is that long");
            self.waiting.extend(events);
        }
        self.waiting.pop_front()
    }
}
