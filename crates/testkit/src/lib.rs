//! Test support: a scripted source, a gateway with real transports around it, a scripted MCP
//! server, and small clients that can also violate the protocol.
//!
//! A test starts a gateway, sends a request and asserts on the response. Nothing here waits for
//! time to pass; every wait is for an event, with a timeout that fails the test.
//!
//! Only tests depend on this crate. It must not know: the binary, its configuration, its command
//! line; except `driver::gateway`, which starts the binary as a user would.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tests write JSON arguments inline, without an ampersand"
)]

mod address;
pub mod driver;
mod fake;
pub mod fixture;
mod gateway;
mod http;
pub mod intermediaries;
mod program;
mod stdio;
mod wait;

pub use address::unique_loopback_address;
pub use fake::{CallCounts, FakeSource, ScriptedTool};
pub use gateway::{Stopping, TestGateway, TestGatewayBuilder};
pub use http::{
    Client, Connection, Events, HttpResponse, ModernRequest, Request, Session, UnreadResponse,
};
pub use stdio::StdioClient;
/// The policy layers, for tests that wrap a source in layers of their own.
pub use tidegate_policy as policy;
pub use wait::{poll_for, wait_for, wait_until, wait_up_to};

/// The newest revision, without sessions.
pub const MODERN: &str = "2026-07-28";

/// The revisions with sessions, oldest first.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The newest revision with sessions.
pub const NEWEST_LEGACY: &str = "2025-11-25";

/// The only revision with JSON-RPC batches.
pub const BATCHES: &str = "2025-03-26";
