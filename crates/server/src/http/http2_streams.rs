//! The responses of one HTTP/2 connection. Flow control lets a client block a response without
//! blocking the connection, so neither the write timeout of the connection nor hyper's keep-alive ends
//! it: each response is watched here, and so is whether the connection is in use at all.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::Response;
use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;

/// How often responses and connections are checked, as a fraction of their timeout.
const CHECKS_PER_TIMEOUT: u32 = 4;

/// What hyper takes of a body at once: it may be buffered until the client reads it.
const MAX_PART_BYTES: usize = 16 * 1024;

/// The requests and responses in progress on one connection.
pub(super) struct Http2Streams {
    write_timeout: Duration,
    idle_timeout: Duration,
    state: Mutex<StreamsState>,
}

struct StreamsState {
    next_number: u64,
    /// Requests that have no response yet.
    requests: usize,
    /// Those that were ended because their client did not read them are not in it.
    responses: HashMap<u64, Arc<Mutex<ResponseState>>>,
    /// When the last request or response ended.
    last_used: Instant,
}

struct ResponseState {
    /// `None` after the response was ended because the client did not read it.
    body: Option<Body>,
    /// The rest of the part that the client is reading.
    part: Bytes,
    /// Since when the client has not taken the next part; `None` while it waits for one.
    blocked_since: Option<Instant>,
}

impl Http2Streams {
    pub(super) fn new(write_timeout: Duration, idle_timeout: Duration) -> Arc<Self> {
        Arc::new(Self {
            write_timeout,
            idle_timeout,
            state: Mutex::new(StreamsState {
                next_number: 0,
                requests: 0,
                responses: HashMap::new(),
                last_used: Instant::now(),
            }),
        })
    }

    /// Counts a request until it has its response.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestInProgress {
        self.state.lock().requests += 1;
        RequestInProgress(Arc::clone(self))
    }

    /// Watches a response until it is sent.
    pub(super) fn watch(self: &Arc<Self>, response: Response<Body>) -> Response<Body> {
        if response.body().is_end_stream() {
            return response;
        }
        let mut state = self.state.lock();
        let number = state.next_number;
        state.next_number += 1;
        response.map(|body| {
            let size = body.size_hint();
            let watched = Arc::new(Mutex::new(ResponseState {
                body: Some(body),
                part: Bytes::new(),
                blocked_since: Some(Instant::now()),
            }));
            state.responses.insert(number, Arc::clone(&watched));
            let streams = Arc::clone(self);
            Body::new(UnsyncBoxBody::new(WatchedBody {
                streams,
                number,
                watched,
                size,
            }))
        })
    }

    /// Ends responses that their client does not read, for as long as it is polled. Returns when the
    /// connection was idle for too long.
    pub(super) async fn wait_until_idle(&self) {
        let shortest = self.write_timeout.min(self.idle_timeout);
        let mut ticks = tokio::time::interval(shortest / CHECKS_PER_TIMEOUT);
        loop {
            ticks.tick().await;
            self.end_blocked_responses();
            let state = self.state.lock();
            let is_unused = state.requests == 0 && state.responses.is_empty();
            if is_unused && state.last_used.elapsed() >= self.idle_timeout {
                return;
            }
        }
    }

    fn end_blocked_responses(&self) {
        let is_blocked = |response: &Arc<Mutex<ResponseState>>| {
            let since = response.lock().blocked_since;
            since.is_some_and(|since| since.elapsed() >= self.write_timeout)
        };
        let mut state = self.state.lock();
        let blocked = state
            .responses
            .extract_if(|_, response| is_blocked(response));
        let blocked: Vec<_> = blocked.map(|(_, response)| response).collect();
        drop(state);
        for response in blocked {
            // Dropping the body cancels the call and frees its memory. The next poll, if there ever is
            // one, resets the stream.
            let mut response = response.lock();
            let ended = (response.body.take(), std::mem::take(&mut response.part));
            drop(response);
            drop(ended);
        }
    }
}

/// A request without a response.
pub(super) struct RequestInProgress(Arc<Http2Streams>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests -= 1;
        state.last_used = Instant::now();
    }
}

/// A body that records when its client last took a part of it.
struct WatchedBody {
    streams: Arc<Http2Streams>,
    number: u64,
    watched: Arc<Mutex<ResponseState>>,
    size: SizeHint,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let watched = &mut *self.watched.lock();
        let Some(body) = &mut watched.body else {
            let error = axum::Error::new("the client did not read the response in time");
            return Poll::Ready(Some(Err(error)));
        };
        if watched.part.is_empty() {
            let Poll::Ready(frame) = Pin::new(body).poll_frame(context) else {
                watched.blocked_since = None;
                return Poll::Pending;
            };
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(part))) => watched.part = part,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        // The next poll comes when the client can take more.
        watched.blocked_since = Some(Instant::now());
        if watched.part.len() <= MAX_PART_BYTES {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut watched.part)))));
        }
        // A copy: as long as hyper had a slice of it, the whole message would stay in memory.
        let copy = Bytes::copy_from_slice(&watched.part.split_to(MAX_PART_BYTES));
        Poll::Ready(Some(Ok(Frame::data(copy))))
    }

    fn is_end_stream(&self) -> bool {
        let watched = self.watched.lock();
        let has_ended = watched.body.as_ref().is_some_and(HttpBody::is_end_stream);
        has_ended && watched.part.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.size
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        let mut state = self.streams.state.lock();
        state.responses.remove(&self.number);
        state.last_used = Instant::now();
    }
}
