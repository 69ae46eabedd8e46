//! Compares the CPU time of a call through the gateway with the same call through a plain reverse
//! proxy: the same server behind both, everything on this machine, in one run.
//!
//! CPU time is meaningful on a busy machine too; throughput and latency only on an idle one.
//! Must not know: the gateway, except as a program.
#![allow(
    clippy::print_stdout,
    reason = "the report is for a person at a terminal"
)]

mod cell;
mod load;
mod process;
mod report;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use cell::{Cell, Era, Front, RequestKind, ResponseFormat, Setup};
use load::Load;
use report::{Measurement, Row};

/// Measures the CPU time of calls through the gateway and through a plain reverse proxy.
#[derive(Parser)]
struct Args {
    /// The gateway binary; by default the one in the folder of this program.
    #[arg(long)]
    gateway: Option<PathBuf>,
    /// Calls in each cell, for the gateway and for the proxy.
    #[arg(long, default_value_t = 20_000)]
    calls: usize,
    /// Rounds in which gateway and proxy alternate.
    #[arg(long, default_value_t = 25)]
    rounds: usize,
    /// Concurrent connections, with one call in flight each.
    #[arg(long, default_value_t = 64)]
    connections: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // Returning ends the processes that were started.
    tokio::select! {
        done = measure_all(&args) => done,
        _ = terminate.recv() => anyhow::bail!("stopped"),
        _ = interrupt.recv() => anyhow::bail!("stopped"),
    }
}

async fn measure_all(args: &Args) -> anyhow::Result<()> {
    println!(
        "{} calls per cell in {} rounds, {} concurrent\n",
        args.calls, args.rounds, args.connections
    );
    println!("{}", report::TABLE_HEADER);
    let mut worst: f64 = 0.0;
    for era in [Era::Legacy, Era::Modern] {
        for format in [ResponseFormat::Json, ResponseFormat::Sse] {
            let setup = Setup::start(&args.gateway()?, era, format)?;
            for request in [RequestKind::Call, RequestKind::Read] {
                let row = measure(
                    args,
                    &setup,
                    Cell {
                        era,
                        format,
                        request,
                    },
                )
                .await?;
                worst = worst.max(row.ratio);
                println!("{row}");
            }
        }
    }
    println!("\nworst ratio of gateway to proxy: {worst:.2} (target: at most 3)");
    Ok(())
}

impl Args {
    fn gateway(&self) -> anyhow::Result<PathBuf> {
        match &self.gateway {
            Some(path) => Ok(path.clone()),
            None => process::beside("tidegate"),
        }
    }
}

/// Alternates between both, so that other load on the machine affects both.
async fn measure(args: &Args, setup: &Setup, cell: Cell) -> anyhow::Result<Row> {
    let fronts = [&setup.gateway, &setup.proxy];
    let mut loads = Vec::new();
    for front in fronts {
        let load = Load::open(front, cell, args.connections).await;
        let mut load = load.with_context(|| format!("{} at {}", cell, front.name))?;
        // Warm up.
        load.run(args.calls / 10).await?;
        loads.push(load);
    }
    let mut measurements = [Vec::new(), Vec::new()];
    for _ in 0..args.rounds {
        for ((front, load), measurements) in fronts.iter().zip(&mut loads).zip(&mut measurements) {
            measurements.push(round(front, load, args.calls / args.rounds).await?);
        }
    }
    Ok(Row::new(cell, &measurements))
}

async fn round(front: &Front, load: &mut Load, calls: usize) -> anyhow::Result<Measurement> {
    let before = front.process.cpu_time()?;
    let ran = load.run(calls).await?;
    let cpu = front.process.cpu_time()? - before;
    Ok(Measurement::of(cpu, &ran))
}
