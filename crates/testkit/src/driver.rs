//! A client that stands before a gateway and does what the client scenarios of the conformance suite
//! ask for. The suite plays the server behind the gateway, so that it is the gateway it judges.
//!
//! The program `tidegate-driver` is what the suite starts: it starts a gateway before the server
//! that it is told, drives it and ends it.
//! Must not know: the suite's checks; whether the gateway passes them.

mod answers;
mod gateway;
mod headers;
mod peer;
mod scenario;

use std::path::{Path, PathBuf};

use serde_json::Value;

use gateway::Gateway;

/// What the suite says about one run.
pub struct Task {
    pub scenario: String,
    /// The revision that the client is to speak.
    pub revision: String,
    /// What is to be done, where the scenario does not say it all.
    pub context: Value,
}

/// Drives a gateway, which is this program, before the server at this address. Panics where the
/// gateway answers what no client could go on with.
pub async fn drive(program: &Path, url: &str, task: &Task) {
    let gateway = Gateway::start(program, url).await;
    scenario::play(task, &gateway.client()).await;
    gateway.stop().await;
}

/// The program `tidegate-driver`.
#[track_caller]
pub fn program() -> PathBuf {
    crate::program::beside_the_test("tidegate-driver")
}
