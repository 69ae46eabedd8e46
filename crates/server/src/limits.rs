//! Every bound a transport keeps, in one place. The transports read these; nothing reads them from a file.

use std::time::Duration;

/// The bounds of the transports. `Default` is what ships.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message: an HTTP body or a line on stdin.
    pub max_message_bytes: usize,
    /// Bytes of all messages that are being taken, over all transports of HTTP.
    pub max_buffered_bytes: usize,
    /// How deep arrays and objects of a message may nest.
    pub max_json_depth: usize,
    /// Messages in one batch (only one revision has batches).
    pub max_batch_messages: usize,
    /// Bytes of all HTTP headers of one request together.
    pub max_header_bytes: usize,
    /// Open HTTP connections.
    pub max_connections: usize,
    /// Calls under way at once, over all transports.
    pub max_concurrent_calls: usize,
    /// Calls under way at once in one session or on one stdio pipe.
    pub max_concurrent_calls_per_session: usize,
    /// Legacy sessions, over all principals.
    pub max_sessions: usize,
    /// Legacy sessions of one principal.
    pub max_sessions_per_principal: usize,
    /// How long a session may stay unused before it ends.
    pub session_idle_timeout: Duration,
    /// Open event streams (SSE responses), over all transports.
    pub max_streams: usize,
    /// Events kept of one stream for a client that reads slowly or comes back.
    pub replay_buffer_events: usize,
    /// Bytes of the events kept of one stream.
    pub replay_buffer_bytes: usize,
    /// Resources and tasks one session or one listen may subscribe to.
    pub max_subscriptions: usize,
    /// How long a client may take to send the headers of a request, counted from the moment its
    /// connection is free: an idle connection ends after this time too.
    pub header_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How often a silent stream gets a comment, so that proxies keep it open.
    pub keep_alive_interval: Duration,
    /// How long a stream may refuse to take bytes before it is closed.
    pub write_timeout: Duration,
    /// How long a client with a session may think about what a source without sessions asks.
    pub answer_timeout: Duration,
    /// How long connections are still taken after the signal to stop, so that whoever sends them
    /// here can notice.
    pub shutdown_delay: Duration,
    /// How long calls under way may go on after that.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 4 * 1024 * 1024,
            max_buffered_bytes: 256 * 1024 * 1024,
            max_json_depth: 64,
            max_batch_messages: 64,
            max_header_bytes: 32 * 1024,
            max_connections: 16_384,
            max_concurrent_calls: 10_000,
            max_concurrent_calls_per_session: 256,
            max_sessions: 10_000,
            max_sessions_per_principal: 1_000,
            session_idle_timeout: Duration::from_secs(60 * 60),
            max_streams: 10_000,
            replay_buffer_events: 256,
            replay_buffer_bytes: 1024 * 1024,
            max_subscriptions: 1_000,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            keep_alive_interval: Duration::from_secs(15),
            write_timeout: Duration::from_secs(30),
            answer_timeout: Duration::from_secs(600),
            shutdown_delay: Duration::ZERO,
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// The bounds of one message.
    pub(crate) fn decode(&self) -> tidegate_mcp::DecodeLimits {
        tidegate_mcp::DecodeLimits {
            max_depth: self.max_json_depth,
            max_batch: self.max_batch_messages,
        }
    }
}
