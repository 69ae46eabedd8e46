//! Adds the commit to the version, if the sources are in a git checkout.

#![allow(
    clippy::print_stdout,
    reason = "a build script passes values to cargo this way"
)]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    // Not the commit of another repository that this folder happens to be in.
    let is_tracked = git(&["ls-files", "build.rs"]).is_some();
    let commit = git(&["rev-parse", "--short=7", "HEAD"]).filter(|_| is_tracked);
    let version = match commit {
        Some(commit) => {
            watch_head();
            format!("{version} ({commit})")
        }
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=TIDEGATE_VERSION={version}");
}

/// Runs again when HEAD moves. A commit on a branch changes the file of the branch, not HEAD itself;
/// git knows where these files are, also in a worktree.
fn watch_head() {
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs"].map(str::to_owned);
    for name in names.into_iter().chain(branch) {
        let path = git(&["rev-parse", "--git-path", &name]);
        // Cargo would take a missing file for one that changed.
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// The output of a git command; none if it fails or git is not installed.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
