//! Notices that a server at a URL cannot be reached any more. The end of a process is noticed by its
//! pipes; an HTTP server that is gone shows only in requests that fail.

use std::time::Duration;

use tidegate_core::Code;
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::modern_headers;
use tokio::time::{sleep, timeout};

use super::Supervisor;
use crate::session::Connection;
use crate::session::own_requests::send_request;

/// How often a server is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// How long a check may take. A server that is busy is not gone.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

impl Supervisor {
    /// Returns when the server cannot be reached. It is checked at intervals, and when a call failed.
    pub(super) async fn wait_until_unreachable(&self, connection: &Connection) {
        if !connection.channel.has_headers() {
            return std::future::pending().await;
        }
        loop {
            tokio::select! {
                () = sleep(CHECK_INTERVAL) => {}
                () = self.refresher.call_failed.notified() => {}
            }
            if !is_reachable(connection).await {
                return;
            }
        }
    }
}

/// Whether a connection can be opened. Any response will do.
async fn is_reachable(connection: &Connection) -> bool {
    let encoder = connection.gateway_encoder();
    let (request, headers) = match encoder.revision.era() {
        Era::Legacy => (encoder.ping(connection.ids.next()), Vec::new()),
        Era::Modern => {
            let request = encoder.discover(connection.ids.next());
            let headers = modern_headers(encoder.revision, &request, None);
            (request, headers)
        }
    };
    let response = send_request(connection.channel.as_ref(), request, headers);
    match timeout(CHECK_TIMEOUT, response).await {
        Ok(Err(error)) => error.code() != Code::SourceDown,
        Ok(Ok(_)) | Err(_) => true,
    }
}
