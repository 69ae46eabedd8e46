//! The fixture as a program: an MCP server for tests that start servers as processes.
//!
//! Over HTTP the first line on stdout is the endpoint; over stdio stdout carries only messages.
//! Must not know: anything but how to start the fixture.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use clap::Parser;
use tidegate_testkit::fixture::{Fixture, FixtureSettings};
use tokio::signal::unix::{SignalKind, signal};

/// An MCP server for tests, with configurable behavior and faults.
#[derive(Parser)]
#[command(name = "tidegate-fixture")]
struct Cli {
    /// Serves HTTP on this address. Without it, serves one client on stdin and stdout.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    settings: FixtureSettings,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let cli = Cli::parse();
    let ignore_termination = cli.settings.ignore_termination;
    if ignore_termination {
        tokio::spawn(ignore_signals()?);
    }
    let fixture = Fixture::of(cli.settings).with(|settings| settings.exit_on_crash = true);
    match cli.listen {
        None => {
            fixture
                .serve_stdio(tokio::io::stdin(), tokio::io::stdout())
                .await?;
            if ignore_termination {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
        Some(address) => {
            let running = fixture.start_at(address).await?;
            writeln!(io::stdout(), "{}", running.url())?;
            running.ended().await;
            Ok(())
        }
    }
}

/// Receives SIGTERM and does nothing.
fn ignore_signals() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move { while terminate.recv().await.is_some() {} })
}
