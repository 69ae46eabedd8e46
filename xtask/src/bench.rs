//! `cargo xtask bench`: builds what is measured as it is released, and measures it.
//!
//! Must not know: what is measured.

use std::process::Command;

use anyhow::Result;

use crate::place::Place;
use crate::run::{cargo, run as run_command};

const PACKAGES: [&str; 2] = ["tidegate", "tidegate-bench"];

pub(crate) fn run(place: &Place, options: &[String]) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked"]);
    build.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    run_command(build.current_dir(&place.root))?;
    let built = place.target.join("release");
    // The index is measured by itself: its figures need a machine that does nothing else.
    if options == ["index"] {
        return run_command(&mut Command::new(built.join("bench-index")));
    }
    run_command(Command::new(built.join("tidegate-bench")).args(options))
}
