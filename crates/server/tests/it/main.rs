//! The transports from the outside: real sockets and streams, with a scripted source behind the
//! gateway. Each file has one topic.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "tests build JSON where they use it, and panic on failure"
)]

mod auth;
mod batches;
mod cancellation;
mod classification;
mod errors;
mod http2;
mod ids;
mod legacy_sse;
mod limits;
mod lists;
mod logs;
mod modern;
mod names;
mod origin;
mod panics;
mod parameter_headers;
mod pitfalls;
mod replay;
mod sessions;
mod shutdown;
mod smuggling;
mod stdio;
mod streams;
mod subscriptions;
mod support;
mod timeouts;
