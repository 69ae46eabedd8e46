//! What a call through the gateway costs in CPU time, beside the same call through a plain reverse
//! proxy: the same server behind both, everything on this machine, in one run.
//!
//! CPU time is meaningful on a busy machine too; throughput and latency are only on one that does
//! nothing else.
//! Must not know: the gateway but as a program.
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

use cell::{Behind, Cell, Era, Form, Front, Subject};
use load::Load;
use report::{CallMetrics, Row};

/// Measures the CPU time of calls through the gateway and through a plain reverse proxy.
#[derive(Parser)]
struct Args {
    /// The gateway; by default the one that was built beside this program.
    #[arg(long)]
    gateway: Option<PathBuf>,
    /// The calls that are measured in each cell, through each of both.
    #[arg(long, default_value_t = 20_000)]
    calls: usize,
    /// How often both take turns.
    #[arg(long, default_value_t = 25)]
    rounds: usize,
    /// How many calls are under way at once.
    #[arg(long, default_value_t = 64)]
    connections: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // Returning ends the programs that were started.
    tokio::select! {
        done = measure_all(&args) => done,
        _ = terminate.recv() => anyhow::bail!("stopped"),
        _ = interrupt.recv() => anyhow::bail!("stopped"),
    }
}

async fn measure_all(args: &Args) -> anyhow::Result<()> {
    println!(
        "{} calls a cell in {} rounds, {} at once\n",
        args.calls, args.rounds, args.connections
    );
    println!("{}", report::HEAD);
    let mut worst: f64 = 0.0;
    for era in [Era::Legacy, Era::Modern] {
        for form in [Form::Json, Form::Sse] {
            let behind = Behind::start(&args.gateway()?, era, form)?;
            for subject in [Subject::Call, Subject::Read] {
                let row = measure(args, &behind, Cell { era, form, subject }).await?;
                worst = worst.max(row.ratio);
                println!("{row}");
            }
        }
    }
    println!("\nthe gateway costs at most {worst:.2} times what the proxy does; the target is 3");
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

/// Both in turns, so that what else the machine does falls on both.
async fn measure(args: &Args, behind: &Behind, cell: Cell) -> anyhow::Result<Row> {
    let fronts = [&behind.gateway, &behind.proxy];
    let mut loads = Vec::new();
    for front in fronts {
        let load = Load::open(front, cell, args.connections).await;
        let mut load = load.with_context(|| format!("{} at {}", cell, front.name))?;
        // What is done for the first time costs more.
        load.run(args.calls / 10).await?;
        loads.push(load);
    }
    let mut figures = [Vec::new(), Vec::new()];
    for _ in 0..args.rounds {
        for ((front, load), figures) in fronts.iter().zip(&mut loads).zip(&mut figures) {
            figures.push(round(front, load, args.calls / args.rounds).await?);
        }
    }
    Ok(Row::new(cell, &figures))
}

async fn round(front: &Front, load: &mut Load, calls: usize) -> anyhow::Result<CallMetrics> {
    let before = front.process.cpu_time()?;
    let ran = load.run(calls).await?;
    let cpu = front.process.cpu_time()? - before;
    Ok(CallMetrics::of(cpu, &ran))
}
