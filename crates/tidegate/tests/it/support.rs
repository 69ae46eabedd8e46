//! What the tests share: a folder of their own, the real program in it, and clients that send
//! exactly the bytes they are told to.

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
pub(crate) mod stdio;
pub(crate) mod tools;

use std::time::Duration;

pub(crate) use events::Events;
pub(crate) use home::Home;
pub(crate) use http::{Answer, Post};
pub(crate) use process::{Ended, Running};
pub(crate) use server::Server;
pub(crate) use session::Session;
pub(crate) use stdio::Stdio;

/// How long anything is waited for before a test gives up. Long, because a busy machine is no
/// fault of the program; no test measures time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
