//! Programs that must come from the operating system or from rustup.
//!
//! On a Debian machine they are installed when we may; elsewhere the exact command is said.
//! Must not know: what the programs are used for.

use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::run::{output, run, works};

pub(crate) struct Need {
    what: &'static str,
    packages: &'static [&'static str],
    there: fn() -> bool,
}

pub(crate) const NPM: Need = Need {
    what: "npm",
    packages: &["nodejs", "npm"],
    there: || works("npm", &["--version"]),
};

// Debian's python3 has the module venv even where it cannot make a working environment: what
// it lacks then is ensurepip.
pub(crate) const PYTHON: Need = Need {
    what: "python3 with venv",
    packages: &["python3", "python3-venv"],
    there: || works("python3", &["-c", "import venv, ensurepip"]),
};

pub(crate) const GIT: Need = Need {
    what: "git",
    packages: &["git"],
    there: || works("git", &["--version"]),
};

pub(crate) const CPP: Need = Need {
    what: "a C++ compiler",
    packages: &["g++"],
    there: || works("c++", &["--version"]),
};

pub(crate) fn provide(need: &Need) -> Result<()> {
    if (need.there)() {
        return Ok(());
    }
    let install = format!("apt-get install -y {}", need.packages.join(" "));
    if !works("apt-get", &["--version"]) {
        bail!(
            "{} is missing; install it (on Debian: {install})",
            need.what
        );
    }
    if !is_root() {
        bail!("{} is missing; run: sudo {install}", need.what);
    }
    eprintln!("system: {} is missing: {install}", need.what);
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get")
        .args(["install", "-y", "-q"])
        .args(need.packages))?;
    ensure!(
        (need.there)(),
        "{} is still missing after: {install}",
        need.what
    );
    Ok(())
}

/// A part of the Rust toolchain, such as rustfmt.
pub(crate) fn provide_component(component: &str, there: bool) -> Result<()> {
    if there {
        return Ok(());
    }
    let add = format!("rustup component add {component}");
    ensure!(
        works("rustup", &["--version"]),
        "{component} is missing; with rustup, run: {add}"
    );
    eprintln!("system: {component} is missing: {add}");
    run(Command::new("rustup").args(["component", "add", component]))
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}
