//! The fixture as a program: a server for tests that start servers as processes.
//!
//! Over HTTP its first line on stdout is its endpoint; on a pipe stdout carries messages alone.
//! Must not know: anything but how to start it.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use clap::Parser;
use tidegate_testkit::fixture::{Fixture, Settings};
use tokio::signal::unix::{SignalKind, signal};

/// An MCP server for tests. It plays the many servers that a gateway meets.
#[derive(Parser)]
#[command(name = "tidegate-fixture")]
struct Cli {
    /// Listens for HTTP on this address; without it, serves one client on stdin and stdout.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    settings: Settings,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let cli = Cli::parse();
    let stubborn = cli.settings.stubborn;
    if stubborn {
        tokio::spawn(ignore_signals()?);
    }
    let fixture = Fixture::of(cli.settings).with(|settings| settings.exits = true);
    match cli.listen {
        None => {
            fixture
                .serve_pipe(tokio::io::stdin(), tokio::io::stdout())
                .await?;
            if stubborn {
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

/// Takes every word to end, and does nothing.
fn ignore_signals() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move { while terminate.recv().await.is_some() {} })
}
