//! An MCP server that is not ours: it plays the many servers that a gateway meets.
//!
//! It speaks any revision, over Streamable HTTP, the HTTP transport before it, and pipes; it offers
//! what the official conformance suite calls; it can be told to have the flaws that real servers
//! have; it misbehaves on demand; and it tells what it received. [`Fixture`] runs it inside a test,
//! the program `tidegate-fixture` as a process of its own, with the same [`Settings`].
//!
//! Its protocol is written down once more and on purpose simpler than the gateway's own, so that a
//! mistake in the one is not hidden by the same mistake in the other.
//! Must not know: the gateway, its crates but for the framing of events.

mod call;
mod channel;
mod complaints;
mod completion;
mod errands;
mod framing;
mod heard;
mod http;
mod log;
mod media;
mod members;
mod meta;
mod methods;
mod news;
mod offer;
mod page;
mod pipe;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod rpc;
mod running;
mod seal;
mod server;
mod session;
mod settings;
mod tasks;
mod tools;

use std::path::PathBuf;

pub use complaints::Complaints;
pub use heard::Heard;
pub use news::News;
pub use running::{Fixture, RunningFixture};
pub use settings::{Cursors, Era, Form, Probe, Settings};

/// The program `tidegate-fixture`.
#[track_caller]
pub fn program() -> PathBuf {
    crate::program::beside_the_test("tidegate-fixture")
}
