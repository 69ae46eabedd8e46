//! The GET stream of a legacy session, for messages that belong to no response. Servers may not have
//! one.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use tidegate_mcp::RequestId;
use tokio_util::sync::CancellationToken;

use super::HttpClient;
use crate::session::demultiplexer::{MessageOrigin, Routed};

/// The delay before the stream is opened again.
const REOPEN_DELAY: Duration = Duration::from_secs(1);

/// How often in a row a server whose stream was open may be unreachable before the connection is
/// closed.
const MAX_UNREACHABLE: usize = 3;

struct SessionStream {
    /// Cancelled when the server has opened or refused the stream.
    settled: CancellationToken,
    was_open: bool,
    last_event_id: Option<String>,
    /// How often in a row the server was unreachable.
    unreachable: usize,
}

/// Opens the stream again whenever it ends, until the connection is closed or the server refuses it.
pub(super) async fn run(client: Arc<HttpClient>, settled: CancellationToken) {
    let mut stream = SessionStream {
        settled,
        was_open: false,
        last_event_id: None,
        unreachable: 0,
    };
    loop {
        let is_refused = tokio::select! {
            () = client.closed.cancelled() => return,
            is_refused = stream.read(&client) => is_refused,
        };
        let is_gone = is_refused || stream.unreachable == MAX_UNREACHABLE;
        match stream.was_open {
            // A stream that was open and is refused now has ended with its session.
            true if is_gone => return client.closed.cancel(),
            false if is_refused => return,
            _ => tokio::time::sleep(REOPEN_DELAY).await,
        }
    }
}

impl SessionStream {
    /// Reads one stream to its end. True if the server refuses the stream for good.
    async fn read(&mut self, client: &Arc<HttpClient>) -> bool {
        let opened = client.get(self.last_event_id.as_deref()).await;
        self.settled.cancel();
        let Ok(response) = opened else {
            self.unreachable += 1;
            return false;
        };
        self.unreachable = 0;
        let status = response.status;
        if !(status.is_success() && response.is_event_stream) {
            let (source, status_code) = (&client.source, status.as_u16());
            tracing::debug!(source, status = status_code, "session stream refused");
            return !may_open_later(status);
        }
        // Messages between two streams are lost, unless the server resumes after the last event.
        if self.was_open && self.last_event_id.is_none() {
            client.demultiplexer.missed_messages();
        }
        self.was_open = true;
        let mut reader = client.reader(response);
        while let Some(Ok(bytes)) = reader.next().await {
            for routed in client
                .demultiplexer
                .receive(&bytes, MessageOrigin::SessionStream)
            {
                match routed {
                    Routed::Reply(reply) => drop(client.post(reply, Vec::new()).await),
                    Routed::Held(id, delay) => answer_later(client, id, delay),
                    Routed::ToRequest(_) => {}
                }
            }
        }
        self.last_event_id = reader.last_event_id.or(self.last_event_id.take());
        false
    }
}

/// Answers a held question after some time, unless a call gets it or the connection is closed.
fn answer_later(client: &Arc<HttpClient>, id: RequestId, delay: Duration) {
    let (client, closed) = (Arc::clone(client), client.closed.clone());
    tokio::spawn(closed.run_until_cancelled_owned(async move {
        tokio::time::sleep(delay).await;
        if let Some(reply) = client.demultiplexer.answer_held(&id) {
            client.post(reply, Vec::new()).await.ok();
        }
    }));
}

/// Whether a refused stream may open later: the server is overloaded, or has not noticed yet that the
/// previous stream ended.
fn may_open_later(status: StatusCode) -> bool {
    let busy = [StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS];
    status.is_server_error() || busy.contains(&status)
}
