//! Reads responses over HTTP as they arrive, and records the last event id for resuming.
//!
//! Must not know: what a message means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tidegate_testkit::{Events, Request};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

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
    last_event: LastEventId,
) -> ReaderTask {
    ReaderTask(tokio::spawn(async move {
        let response = request.send().await;
        if response.is_stream() {
            forward(response.events(), sender, Some(last_event)).await;
            return;
        }
        match response.json().await {
            Value::Array(batch) => {
                for message in batch {
                    sender.send(message).await.ok();
                }
            }
            message => drop(sender.send(message).await),
        }
    }))
}

pub(super) fn read_events(
    events: Events,
    sender: mpsc::Sender<Value>,
    last_event: Option<LastEventId>,
) -> ReaderTask {
    ReaderTask(tokio::spawn(forward(events, sender, last_event)))
}

/// Forwards messages and records the last event id.
async fn forward(mut events: Events, sender: mpsc::Sender<Value>, last_event: Option<LastEventId>) {
    while let Some(event) = events.receive().await {
        if let (Some((request, last_ids)), Some(id)) = (&last_event, &event.id) {
            last_ids.lock().unwrap().insert(request.clone(), id.clone());
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
