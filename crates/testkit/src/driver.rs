//! The client for the client scenarios of the conformance suite. The suite runs the server behind
//! the gateway, so that its checks judge the gateway.
//!
//! The suite starts the program `tidegate-driver`, which starts a gateway in front of the suite's
//! server, sends the scenario's requests and stops the gateway.
//! Must not know: the suite's checks; whether the gateway passes them.

mod answers;
mod client;
mod gateway;
mod headers;
mod scenario;

use std::path::{Path, PathBuf};

use serde_json::Value;

use gateway::GatewayProcess;

/// One scenario run, as described by the suite.
pub struct ScenarioRun {
    pub name: String,
    /// The revision that the client uses.
    pub revision: String,
    /// Parameters of the scenario.
    pub context: Value,
}

/// Runs a scenario against a gateway (the given program) in front of the server at `url`. Panics on
/// a response with which no client could continue.
pub async fn drive(program: &Path, url: &str, run: &ScenarioRun) {
    let gateway = GatewayProcess::start(program, url).await;
    scenario::run(run, &gateway.client()).await;
    gateway.stop().await;
}

/// The program `tidegate-driver`.
#[track_caller]
pub fn program() -> PathBuf {
    crate::program::path_of("tidegate-driver")
}
