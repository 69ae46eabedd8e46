//! Programs that come from the operating system or from rustup.
//!
//! On Debian, as root, missing ones are installed; elsewhere the error names the exact command.
//! Must not know: what the programs are used for.

use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::run::{output, run, succeeds};

pub(crate) struct Requirement {
    name: &'static str,
    /// The arguments of `apt-get install`.
    packages: &'static [&'static str],
    is_installed: fn() -> bool,
}

pub(crate) const NPM: Requirement = Requirement {
    name: "npm",
    packages: &["nodejs", "npm"],
    is_installed: || succeeds("npm", &["--version"]),
};

// Debian's python3 always has the module venv, but cannot create an environment without ensurepip.
pub(crate) const PYTHON: Requirement = Requirement {
    name: "python3 with venv",
    packages: &["python3", "python3-venv"],
    is_installed: || succeeds("python3", &["-c", "import venv, ensurepip"]),
};

pub(crate) const GIT: Requirement = Requirement {
    name: "git",
    packages: &["git"],
    is_installed: || succeeds("git", &["--version"]),
};

// The browser without a window and without a desktop around it. Tests also use `chromium`.
pub(crate) const CHROMIUM: Requirement = Requirement {
    name: "Chromium",
    packages: &["--no-install-recommends", "chromium-headless-shell"],
    is_installed: || {
        let names = ["chromium-headless-shell", "chromium"];
        names.iter().any(|name| succeeds(name, &["--version"]))
    },
};

pub(crate) const CPP: Requirement = Requirement {
    name: "a C++ compiler",
    packages: &["g++"],
    is_installed: || succeeds("c++", &["--version"]),
};

pub(crate) fn provide(requirement: &Requirement) -> Result<()> {
    if (requirement.is_installed)() {
        return Ok(());
    }
    let install = format!("apt-get install -y {}", requirement.packages.join(" "));
    if !succeeds("apt-get", &["--version"]) {
        bail!(
            "{} is missing; install it (on Debian: {install})",
            requirement.name
        );
    }
    if !is_root() {
        bail!("{} is missing; run: sudo {install}", requirement.name);
    }
    eprintln!("system: {} is missing: {install}", requirement.name);
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get")
        .args(["install", "-y", "-q"])
        .args(requirement.packages))?;
    ensure!(
        (requirement.is_installed)(),
        "{} is still missing after: {install}",
        requirement.name
    );
    Ok(())
}

/// Adds a component of the Rust toolchain, such as rustfmt, if it is missing.
pub(crate) fn provide_component(component: &str, is_installed: bool) -> Result<()> {
    if is_installed {
        return Ok(());
    }
    let add = format!("rustup component add {component}");
    ensure!(
        succeeds("rustup", &["--version"]),
        "{component} is missing; with rustup, run: {add}"
    );
    eprintln!("system: {component} is missing: {add}");
    run(Command::new("rustup").args(["component", "add", component]))
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}
