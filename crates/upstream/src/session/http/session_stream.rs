//! The stream of a session for what no request asked for. A server need not have one.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};
use tidegate_core::{Change, RawJson};
use tidegate_mcp::revision::client::{
    ServerNotification, answer_without_client, parse_notification,
};
use tidegate_mcp::revision::question::question_kind;
use tidegate_mcp::{Message, RequestId};
use tokio_util::sync::CancellationToken;

use super::{LAST_EVENT_ID, Shared};
use crate::session::Heard;
use crate::transport::http::body::{Reader, Spoken};

/// How long to wait before the stream is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// How often in a row a server that had a stream may not be reached before it is given up.
const MOST_UNREACHED: usize = 3;

/// What has come of the stream so far.
struct Standing {
    /// Told when the server has opened the stream, or has not.
    settled: CancellationToken,
    /// Whether it was there once.
    was_there: bool,
    /// The id of its last event, to come back with.
    last_event: Option<String>,
    /// How often the server has not been reached since.
    unreached: usize,
}

/// Opens the stream again and again, until the link is closed or the server says there is none.
pub(super) async fn follow(shared: Arc<Shared>, settled: CancellationToken) {
    let mut standing = Standing {
        settled,
        was_there: false,
        last_event: None,
        unreached: 0,
    };
    loop {
        let refused = tokio::select! {
            () = shared.closed.cancelled() => return,
            refused = standing.hear(&shared) => refused,
        };
        let is_gone = refused || standing.unreached == MOST_UNREACHED;
        match standing.was_there {
            // What was there and is refused now has gone with its session.
            true if is_gone => return shared.closed.cancel(),
            false if refused => return,
            _ => tokio::time::sleep(AGAIN).await,
        }
    }
}

impl Standing {
    /// Hears one stream to its end; true if the server has none for us.
    async fn hear(&mut self, shared: &Shared) -> bool {
        let mut headers = shared.session_headers();
        let last_event = self.last_event.as_ref();
        let last_event = last_event.and_then(|last| HeaderValue::try_from(last).ok());
        headers.extend(last_event.map(|last| (LAST_EVENT_ID, last)));
        let opened = shared
            .endpoint
            .send(Method::GET, headers, String::new())
            .await;
        self.settled.cancel();
        let Ok(response) = opened else {
            self.unreached += 1;
            return false;
        };
        self.unreached = 0;
        let status = response.status;
        if !(status.is_success() && response.is_events) {
            let (source, status_code) = (&shared.name, status.as_u16());
            tracing::debug!(source, status = status_code, "no stream of changes");
            return !comes_later(status);
        }
        // What was said between two streams is had by its place in the first, or not at all.
        if self.was_there && self.last_event.is_none() {
            shared.unasked.missed();
        }
        self.was_there = true;
        let mut reader = Reader::new(response, shared.max_message_bytes, &shared.junk);
        while let Some(Ok(spoken)) = reader.next().await {
            match spoken {
                Spoken::Message(message) => shared.hear(message).await,
                Spoken::Unreadable(answer) => drop(shared.post(answer, Vec::new()).await),
                Spoken::Error(_) => {}
            }
        }
        self.last_event = reader.last_event.or(self.last_event.take());
        false
    }
}

/// Whether a stream that is refused so may be had later: the server is in trouble, or still thinks
/// that we read the last one.
fn comes_later(status: StatusCode) -> bool {
    let busy = [StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS];
    status.is_server_error() || busy.contains(&status)
}

impl Shared {
    /// Hands what came on the stream to the request it belongs to, if it belongs to one.
    async fn hear(&self, message: Message) {
        match message {
            Message::Notification { method, params } => {
                match self
                    .pending
                    .say(parse_notification(&method, params.as_ref()))
                {
                    Some(ServerNotification::Change(change)) => self.unasked.say(change),
                    Some(ServerNotification::ElicitationComplete(id)) => {
                        self.unasked.say(Change::ElicitationComplete(id.into()));
                    }
                    _ => {}
                }
            }
            Message::Request { id, method, params } => self.asked(id, &method, params).await,
            Message::Response { .. } => self.junk.stray(),
        }
    }

    /// A question of the server: nothing links it to a request, so it is for the only one under way,
    /// or for nobody.
    async fn asked(&self, id: RequestId, method: &str, params: Option<RawJson>) {
        let params = params.unwrap_or_else(RawJson::empty_object);
        let answer = answer_without_client(&id, method);
        let heard = question_kind(method)
            .is_some_and(|kind| self.pending.ask(Heard::Question { id, kind, params }));
        if !heard {
            self.post(answer, Vec::new()).await.ok();
        }
    }
}
