//! The driver as a program: what the conformance suite starts as the client to be tested. The suite
//! says the rest in the environment.
//!
//! Must not know: what is done in a scenario.

use std::path::PathBuf;

use clap::Parser;
use tidegate_testkit::driver::{Task, drive};

/// A client for the conformance suite, with a gateway between it and the suite's server.
#[derive(Parser)]
#[command(name = "tidegate-driver")]
struct Cli {
    /// The gateway's program.
    #[arg(long, value_name = "PROGRAM")]
    gateway: PathBuf,
    /// The scenario to play.
    #[arg(long, env = "MCP_CONFORMANCE_SCENARIO")]
    scenario: String,
    /// The revision to speak.
    #[arg(long, env = "MCP_CONFORMANCE_PROTOCOL_VERSION")]
    revision: String,
    /// What the scenario wants to be done, as JSON.
    #[arg(long, env = "MCP_CONFORMANCE_CONTEXT", default_value = "null")]
    context: String,
    /// Where the server is.
    url: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cli = Cli::parse();
    let task = Task {
        scenario: cli.scenario,
        revision: cli.revision,
        context: serde_json::from_str(&cli.context).expect("the suite writes JSON"),
    };
    drive(&cli.gateway, &cli.url, &task).await;
}
