//! The driver as a program. The conformance suite starts it as the client under test and passes the
//! scenario in the environment.
//!
//! Must not know: what a scenario does.

use std::path::PathBuf;

use clap::Parser;
use tidegate_testkit::driver::{ScenarioRun, drive};

/// A client for the conformance suite, with a gateway between it and the suite's server.
#[derive(Parser)]
#[command(name = "tidegate-driver")]
struct Cli {
    /// The gateway's executable.
    #[arg(long, value_name = "PROGRAM")]
    gateway: PathBuf,
    /// The scenario to run.
    #[arg(long, env = "MCP_CONFORMANCE_SCENARIO")]
    scenario: String,
    /// The protocol revision to use.
    #[arg(long, env = "MCP_CONFORMANCE_PROTOCOL_VERSION")]
    revision: String,
    /// Parameters of the scenario, as JSON.
    #[arg(long, env = "MCP_CONFORMANCE_CONTEXT", default_value = "null")]
    context: String,
    /// The URL of the suite's server.
    url: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cli = Cli::parse();
    let run = ScenarioRun {
        name: cli.scenario,
        revision: cli.revision,
        context: serde_json::from_str(&cli.context).expect("the suite writes JSON"),
    };
    drive(&cli.gateway, &cli.url, &run).await;
}
