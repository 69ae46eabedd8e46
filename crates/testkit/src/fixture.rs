//! A scripted MCP server that imitates the servers a gateway meets.
//!
//! It supports every revision over Streamable HTTP, HTTP+SSE and stdio; offers what the official
//! conformance suite calls; has the defects of real servers on demand; misbehaves on demand; and
//! records what it received. [`Fixture`] runs it inside a test, the program `tidegate-fixture` as a
//! process, with the same [`FixtureSettings`].
//!
//! It implements the protocol independently of the gateway, and more simply, so that a mistake in
//! one is not hidden by the same mistake in the other.
//! Must not know: the gateway and its crates, except for SSE framing.

mod announcements;
mod call;
mod channel;
mod completion;
mod content;
mod extensions;
mod framing;
mod http;
mod meta;
mod methods;
mod multi_round_trip;
mod offerings;
mod pagination;
mod prompts;
mod questions;
mod raw_object;
mod received;
mod rejections;
mod resources;
mod rpc;
mod running;
mod seal;
mod server;
mod session;
mod settings;
mod stdio;
mod stream_log;
mod tasks;
mod tools;
mod url_elicitations;

use std::path::PathBuf;

pub use announcements::Announcement;
pub use received::Received;
pub use rejections::Rejections;
pub use running::{Fixture, RunningFixture};
pub use settings::{CursorStyle, Era, FixtureSettings, ProbeResponse, ResponseFormat};

/// The program `tidegate-fixture`.
#[track_caller]
pub fn program() -> PathBuf {
    crate::program::path_of("tidegate-fixture")
}
