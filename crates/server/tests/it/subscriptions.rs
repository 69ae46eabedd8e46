//! Change notifications: for legacy sessions on their standalone stream, for modern clients on listen
//! streams.

mod listen_streams;
mod sessions;

use serde_json::Value;
use tidegate_testkit::Events;

const UPDATED: &str = "notifications/resources/updated";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The method and the params of the next message.
async fn next(events: &mut Events) -> (String, Value) {
    let message = events.message().await;
    (
        message["method"].as_str().unwrap_or_default().to_owned(),
        message["params"].clone(),
    )
}
