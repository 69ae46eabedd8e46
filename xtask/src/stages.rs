//! `cargo xtask test`: the stages of CI, in order, each named before it runs and timed.
//!
//! Must not know: how a stage does its work.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::place::Place;
use crate::run::{cargo, run as run_command, works};
use crate::system::provide_component;
use crate::tools::{self, Tools};
use crate::{FUZZ_SECONDS, fuzz, tidy};

pub(crate) fn run(place: &Place) -> Result<()> {
    let mut times = Times::default();
    let outcome = all(place, &mut times);
    times.print();
    outcome
}

fn all(place: &Place, times: &mut Times) -> Result<()> {
    let tools = times.stage("tools", || tools::set_up(place))?;
    times.stage("fmt", || fmt(place))?;
    times.stage("clippy", || clippy(place))?;
    times.stage("tidy", || tidy::run(place))?;
    times.stage("tests", || tests(place, &tools))?;
    times.stage("fuzz", || fuzz::run(place, None, FUZZ_SECONDS))
}

fn fmt(place: &Place) -> Result<()> {
    provide_component("rustfmt", works("cargo", &["fmt", "--version"]))?;
    run_command(
        cargo()
            .args(["fmt", "--all", "--check"])
            .current_dir(&place.root),
    )
}

fn clippy(place: &Place) -> Result<()> {
    provide_component("clippy", works("cargo", &["clippy", "--version"]))?;
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
            .current_dir(&place.root),
    )
}

fn tests(place: &Place, tools: &Tools) -> Result<()> {
    run_command(
        cargo()
            .args(["test", "--workspace", "--locked"])
            .env("TIDEGATE_TOOLS", &tools.dir)
            .env("TIDEGATE_NODE", &tools.node)
            .current_dir(&place.root),
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
