//! The stream of a session for what no request asked for. A server need not have one.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use tidegate_mcp::Message;
use tidegate_mcp::revision::client::said;

use super::Shared;
use super::body::Reader;

/// How long to wait before the stream is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Opens the stream again and again, until the link is closed or the server says there is none.
pub(super) async fn follow(shared: Arc<Shared>) {
    loop {
        let goes_on = tokio::select! {
            () = shared.closed.cancelled() => false,
            goes_on = hear(&shared) => goes_on,
        };
        if !goes_on {
            return;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Hears one stream to its end; false if there is no use in another.
async fn hear(shared: &Shared) -> bool {
    let opened = shared
        .client
        .send(Method::GET, shared.session_headers(), String::new())
        .await;
    let response = match opened {
        Ok(response) if response.status.is_success() && response.is_events => response,
        Ok(response) if response.status == StatusCode::NOT_FOUND => {
            shared.closed.cancel();
            return false;
        }
        Ok(response) => {
            tracing::debug!(
                source = shared.name,
                status = response.status.as_u16(),
                "no stream of changes"
            );
            return response.status.is_server_error();
        }
        Err(_) => return true,
    };
    let mut reader = Reader::new(response, shared.message_bytes);
    while let Some(Ok(message)) = reader.next().await {
        if let Message::Notification { method, params } = message {
            shared.unasked.try_send(said(&method, params.as_ref())).ok();
        }
    }
    true
}
