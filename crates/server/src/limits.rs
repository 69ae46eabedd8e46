//! Every bound a transport keeps, in one place. The transports read these; nothing reads them from a file.

use std::time::Duration;

/// The bounds of the transports. `Default` is what ships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message: an HTTP body or a line on stdin.
    pub message_bytes: usize,
    /// Bytes of all messages that are being taken, over all transports of HTTP.
    pub buffered_bytes: usize,
    /// How deep arrays and objects of a message may nest.
    pub json_depth: usize,
    /// Messages in one batch (only one revision has batches).
    pub batch_messages: usize,
    /// Bytes of all HTTP headers of one request together.
    pub header_bytes: usize,
    /// Open HTTP connections.
    pub connections: usize,
    /// Calls under way at once, over all transports.
    pub calls: usize,
    /// Calls under way at once in one session or on one stdio pipe.
    pub calls_per_session: usize,
    /// Legacy sessions, over all principals.
    pub sessions: usize,
    /// Legacy sessions of one principal.
    pub sessions_per_principal: usize,
    /// How long a session may stay unused before it ends.
    pub session_idle: Duration,
    /// Open event streams (SSE responses), over all transports.
    pub streams: usize,
    /// Events kept of one stream for a client that reads slowly or comes back.
    pub stream_events: usize,
    /// Bytes of the events kept of one stream.
    pub stream_bytes: usize,
    /// Resources and tasks one session or one listen may subscribe to.
    pub subscriptions: usize,
    /// How long a client may take to send the headers of a request, counted from the moment its
    /// connection is free: an idle connection ends after this time too.
    pub header_time: Duration,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// How often a silent stream gets a comment, so that proxies keep it open.
    pub keep_alive: Duration,
    /// How long a stream may refuse to take bytes before it is closed.
    pub write_stall: Duration,
    /// How long a client with a session may think about what a source without sessions asks.
    pub answer_time: Duration,
    /// How long connections are still taken after the signal to stop, so that whoever sends them
    /// here can notice.
    pub drain_delay: Duration,
    /// How long calls under way may go on after that.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 * 1024 * 1024,
            buffered_bytes: 256 * 1024 * 1024,
            json_depth: 64,
            batch_messages: 64,
            header_bytes: 32 * 1024,
            connections: 16_384,
            calls: 10_000,
            calls_per_session: 256,
            sessions: 10_000,
            sessions_per_principal: 1_000,
            session_idle: Duration::from_secs(60 * 60),
            streams: 10_000,
            stream_events: 256,
            stream_bytes: 1024 * 1024,
            subscriptions: 1_000,
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            write_stall: Duration::from_secs(30),
            answer_time: Duration::from_secs(600),
            drain_delay: Duration::ZERO,
            drain: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// The bounds of one message.
    pub(crate) fn decode(&self) -> tidegate_mcp::Limits {
        tidegate_mcp::Limits {
            depth: self.json_depth,
            batch: self.batch_messages,
        }
    }
}
