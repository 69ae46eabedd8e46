//! The limits of the transports. They come from the configuration; nothing here reads a file.

use std::time::Duration;

/// The limits of the transports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message: an HTTP body or a line on stdin.
    pub max_message_bytes: usize,
    /// Bytes of all HTTP bodies that are being received or processed.
    pub max_buffered_bytes: usize,
    /// Nesting depth of arrays and objects in a message.
    pub max_json_depth: usize,
    /// Messages in one batch (only one revision has batches).
    pub max_batch_messages: usize,
    /// Bytes of all HTTP headers of one request.
    pub max_header_bytes: usize,
    /// Open HTTP connections.
    pub max_connections: usize,
    /// Concurrent calls of all clients.
    pub max_concurrent_calls: usize,
    /// Concurrent calls of one session or one stdio connection.
    pub max_concurrent_calls_per_session: usize,
    /// Legacy sessions of all principals.
    pub max_sessions: usize,
    /// Legacy sessions of one principal.
    pub max_sessions_per_principal: usize,
    /// How long a session may be unused before it ends.
    pub session_idle_timeout: Duration,
    /// Open event streams (SSE responses) of all clients.
    pub max_streams: usize,
    /// Events that are buffered per stream, for slow clients and for clients that reconnect.
    pub replay_buffer_events: usize,
    /// Bytes of the buffered events of one stream.
    pub replay_buffer_bytes: usize,
    /// Resources and tasks that one session or one `subscriptions/listen` may subscribe to.
    pub max_subscriptions: usize,
    /// How long a client may take to send the headers of a request. It starts when the connection is
    /// idle, so idle connections are closed after this time too.
    pub header_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How often a silent stream gets a comment, so that proxies keep it open.
    pub keep_alive_interval: Duration,
    /// How long a write may block before the connection is closed.
    pub write_timeout: Duration,
    /// How long a legacy client may take to answer the questions of a modern source.
    pub answer_timeout: Duration,
    /// How long new connections are still accepted after shutdown was requested, so that load
    /// balancers can notice.
    pub shutdown_delay: Duration,
    /// How long calls in flight may continue after that.
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
    /// The limits that apply while a message is decoded.
    pub(crate) fn decode(&self) -> tidegate_mcp::DecodeLimits {
        tidegate_mcp::DecodeLimits {
            max_depth: self.max_json_depth,
            max_batch: self.max_batch_messages,
        }
    }
}
