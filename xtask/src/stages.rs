//! `cargo xtask test`: the stages of CI, in order, each announced and timed.
//!
//! Must not know: how a stage does its work.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::run::{cargo, run as run_command, succeeds};
use crate::system::provide_component;
use crate::tools::{self, Tools};
use crate::workspace::Workspace;
use crate::{FUZZ_SECONDS, fuzz, tidy};

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut times = Times::default();
    let outcome = run_stages(workspace, &mut times);
    times.print();
    outcome
}

fn run_stages(workspace: &Workspace, times: &mut Times) -> Result<()> {
    let tools = times.stage("tools", || tools::set_up(workspace))?;
    times.stage("fmt", || fmt(workspace))?;
    times.stage("clippy", || clippy(workspace))?;
    times.stage("tidy", || tidy::run(workspace))?;
    times.stage("tests", || tests(workspace, &tools))?;
    times.stage("install", || install(workspace))?;
    times.stage("fuzz", || fuzz::run(workspace, None, FUZZ_SECONDS))
}

fn fmt(workspace: &Workspace) -> Result<()> {
    provide_component("rustfmt", succeeds("cargo", &["fmt", "--version"]))?;
    run_command(
        cargo()
            .args(["fmt", "--all", "--check"])
            .current_dir(&workspace.root),
    )
}

fn clippy(workspace: &Workspace) -> Result<()> {
    provide_component("clippy", succeeds("cargo", &["clippy", "--version"]))?;
    run_command(
        cargo()
            .args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ])
            .current_dir(&workspace.root),
    )
}

/// Most tests wait for other processes rather than compute.
const TEST_THREADS_PER_CORE: usize = 2;

fn tests(workspace: &Workspace, tools: &Tools) -> Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    run_command(
        cargo()
            .args(["test", "--workspace", "--locked"])
            .env("TIDEGATE_TOOLS", &tools.dir)
            .env("TIDEGATE_NODE", &tools.node)
            .env(
                "RUST_TEST_THREADS",
                (cores * TEST_THREADS_PER_CORE).to_string(),
            )
            .current_dir(&workspace.root),
    )
}

/// Installs the program as the README says, but without optimizing it.
fn install(workspace: &Workspace) -> Result<()> {
    run_command(
        cargo()
            .args(["install", "--path", "crates/tidegate"])
            .args(["--debug", "--locked", "--force", "--quiet", "--root"])
            .arg(workspace.target.join("install"))
            .current_dir(&workspace.root),
    )
}

#[derive(Default)]
struct Times(Vec<(&'static str, Duration)>);

impl Times {
    fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("== {name}");
        let start = Instant::now();
        let outcome = work();
        self.0.push((name, start.elapsed()));
        outcome.with_context(|| format!("stage {name} failed"))
    }

    fn print(&self) {
        eprintln!("== times");
        for (name, time) in &self.0 {
            eprintln!("{name:>8} {:>7.1} s", time.as_secs_f64());
        }
    }
}
