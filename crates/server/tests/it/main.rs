//! The transports as clients see them: real sockets and pipes, a scripted source behind them.
//!
//! Each file is one subject. Nothing in here looks inside the transports.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "a test writes its JSON where it is used, and fails where it cannot go on"
)]

mod auth;
mod batches;
mod cancellation;
mod classification;
mod drain;
mod errors;
mod http2;
mod ids;
mod legacy_sse;
mod limits;
mod lists;
mod logs;
mod mistakes;
mod modern;
mod names;
mod origin;
mod panics;
mod parameters;
mod replay;
mod sessions;
mod slow;
mod smuggling;
mod stdio;
mod streams;
mod subscriptions;
mod support;
