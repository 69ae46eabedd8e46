//! Reads responses over HTTP as they arrive, and records the last event id for resuming.
//!
//! Must not know: what a message means.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidegate_mcp::sse::{SseDecoder, SseEvent};
use tidegate_testkit::{HttpResponse, Request};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Larger than any event in these tests.
const MAX_EVENT: usize = 1 << 20;

/// The last event id of each request.
pub(super) type LastEventIds = Arc<Mutex<HashMap<String, String>>>;

type LastEventId = (String, LastEventIds);

/// A task that is aborted with its owner.
pub(super) struct ReaderTask(pub(super) JoinHandle<()>);

impl Drop for ReaderTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) fn read_response(
    request: Request,
    sender: mpsc::Sender<Value>,
    place: LastEventId,
) -> ReaderTask {
    ReaderTask(tokio::spawn(async move {
        let answer: HttpResponse = request.send().await;
        if answer.is_stream() {
            forward(Stream::of(answer), sender, Some(place)).await;
            return;
        }
        match answer.json().await {
            Value::Array(all) => {
                for one in all {
                    sender.send(one).await.ok();
                }
            }
            one => drop(sender.send(one).await),
        }
    }))
}

pub(super) fn read_events(
    events: Stream,
    sender: mpsc::Sender<Value>,
    place: Option<LastEventId>,
) -> ReaderTask {
    ReaderTask(tokio::spawn(forward(events, sender, place)))
}

/// Forwards messages and records the last event id.
async fn forward(mut events: Stream, sender: mpsc::Sender<Value>, place: Option<LastEventId>) {
    while let Some(event) = events.next().await {
        if let (Some((id, last)), Some(at)) = (&place, &event.id) {
            last.lock().unwrap().insert(id.clone(), at.clone());
        }
        if event.data.is_empty() {
            continue;
        }
        let message = serde_json::from_str(&event.data).expect("a JSON message");
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

/// The events of a response, without a timeout between them.
pub(super) struct Stream {
    answer: HttpResponse,
    decoder: SseDecoder,
    waiting: VecDeque<SseEvent>,
}

impl Stream {
    pub(super) fn of(answer: HttpResponse) -> Self {
        assert!(answer.is_stream(), "not an event stream: {}", answer.status);
        Self {
            answer,
            decoder: SseDecoder::new(MAX_EVENT),
            waiting: VecDeque::new(),
        }
    }

    pub(super) async fn next(&mut self) -> Option<SseEvent> {
        while self.waiting.is_empty() {
            let bytes = self.answer.next_bytes().await?;
            let events = self
                .decoder
                .push(&bytes)
                .expect("an event within the limit");
            self.waiting.extend(events);
        }
        self.waiting.pop_front()
    }
}
