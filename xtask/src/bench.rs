//! `cargo xtask bench`: builds the benchmark and the gateway in release mode and runs the benchmark.
//!
//! Must not know: what is measured.

use std::process::Command;

use anyhow::Result;

use crate::run::{cargo, run as run_command};
use crate::workspace::Workspace;

const PACKAGES: [&str; 2] = ["tidegate", "tidegate-bench"];

pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked"]);
    build.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    run_command(build.current_dir(&workspace.root))?;
    let built = workspace.target.join("release");
    // The index benchmark runs alone: its times are meaningful only on an idle machine.
    if options == ["index"] {
        return run_command(&mut Command::new(built.join("bench-index")));
    }
    run_command(Command::new(built.join("tidegate-bench")).args(options))
}
