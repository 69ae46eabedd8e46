//! Shared by all tests: temporary folders, the real program, and clients that send exactly the
//! given bytes.

pub(crate) mod events;
pub(crate) mod fixture;
pub(crate) mod home;
pub(crate) mod http;
pub(crate) mod inspector;
pub(crate) mod lines;
pub(crate) mod messages;
pub(crate) mod proc;
pub(crate) mod process;
pub(crate) mod scripted;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod sse;
pub(crate) mod stdio;
pub(crate) mod terminal;
pub(crate) mod tools;

use std::time::Duration;

pub(crate) use events::Events;
pub(crate) use home::Home;
pub(crate) use http::{Answer, Post};
pub(crate) use process::{Ended, Running};
pub(crate) use server::Server;
pub(crate) use session::Session;
pub(crate) use sse::SseEndpoint;
pub(crate) use stdio::Stdio;

/// Timeout of every wait. Long, because a busy machine is not a failure of the program; no test
/// measures time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
