//! What tests need: a source that does what a test says, a gateway with real transports around it, and
//! small clients that can also do what a good client never would.
//!
//! A test reads like a story: start a gateway, let a client say something, look at the answer.
//! Nothing here waits for a time to pass; everything waits for something to happen, within bounds.
//!
//! Only tests use this crate. It must not know: the binary, its configuration, its command line; but
//! `driver::gateway` starts it, as a user would.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a test writes its JSON where it is used, without an ampersand"
)]

mod address;
pub mod between;
pub mod driver;
mod fake;
pub mod fixture;
mod gateway;
mod http;
mod pipe;
mod program;
mod wait;

pub use address::own_address;
pub use fake::{Counts, FakeSource, Tool};
pub use gateway::{Builder, Stopping, TestGateway};
pub use http::{Answer, Client, Connection, Events, ModernRequest, Request, Session};
pub use pipe::Pipe;
/// The layers, for a source that a test puts behind some of its own.
pub use tidegate_policy as policy;
pub use wait::{eventually, soon, sooner_or_later};

/// The newest revision, which has no sessions.
pub const MODERN: &str = "2026-07-28";

/// The revisions with sessions, oldest first.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The newest revision with sessions.
pub const NEWEST_LEGACY: &str = "2025-11-25";

/// The only revision with batches.
pub const BATCHES: &str = "2025-03-26";
