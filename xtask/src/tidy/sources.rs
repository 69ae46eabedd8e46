//! The files that are checked.
//!
//! Must not know: any rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::run::output;
use crate::workspace::Workspace;

/// A text file of the repository.
pub(super) struct Source {
    /// Relative to the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    /// The lines with their numbers, without an inline test module at the end.
    pub(super) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text).take(tests_start(&self.text))
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    /// The folder under `crates/`, and the path inside of it.
    pub(super) fn in_crate(&self) -> Option<(&str, &str)> {
        self.path.strip_prefix("crates/")?.split_once('/')
    }

    /// Whether it is shipped code of a crate, not a test.
    pub(super) fn is_product(&self) -> bool {
        self.in_crate().is_some_and(|(krate, path)| {
            krate != "testkit"
                && path.starts_with("src/")
                && !path.contains("/tests/")
                && !path.ends_with("/tests.rs")
        })
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

/// The number of lines before an inline test module. Clippy ensures that nothing follows one.
fn tests_start(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        })
        .unwrap_or(lines.len())
}

/// The manifests of the product's crates.
pub(super) fn manifests(workspace: &Workspace) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for dir in entries(&workspace.root.join("crates"))? {
        let manifest = dir.join("Cargo.toml");
        if manifest.is_file() {
            found.push(read(workspace, &manifest)?);
        }
    }
    Ok(found)
}

/// ARCHITECTURE.md, which lists the allowed exceptions.
pub(super) fn architecture(workspace: &Workspace) -> Result<Source> {
    read(workspace, &workspace.root.join("ARCHITECTURE.md"))
}

/// All Rust files of the crates, the benchmark and xtask.
pub(super) fn rust(workspace: &Workspace) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    collect(&workspace.root.join("crates"), &mut paths)?;
    for dir in ["bench", "xtask"] {
        collect(&workspace.root.join(dir), &mut paths)?;
    }
    paths.iter().map(|path| read(workspace, path)).collect()
}

/// All files that git tracks, or would track after `git add`.
pub(super) fn tracked(workspace: &Workspace) -> Result<Vec<Source>> {
    let list = output(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(&workspace.root),
    )?;
    let paths = list.lines().map(|line| workspace.root.join(line));
    // Deleted files are listed until the deletion is committed.
    paths
        .filter(|path| path.is_file())
        .map(|path| read(workspace, &path))
        .collect()
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(dir)? {
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Sorted, so that problems are reported in the same order everywhere.
fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let about = || format!("could not list {}", dir.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).with_context(about)? {
        paths.push(entry.with_context(about)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read(workspace: &Workspace, path: &Path) -> Result<Source> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(Source {
        path: workspace.relative(path),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::tidy) fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn excludes_an_inline_test_module() {
        let file = source(
            "crates/mcp/src/a.rs",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n",
        );
        assert_eq!(file.product_lines().count(), 2);
        assert_eq!(file.lines().count(), 5);
    }

    #[test]
    fn a_test_module_in_its_own_file_excludes_nothing() {
        let file = source(
            "crates/mcp/src/a.rs",
            "#[cfg(test)]\nmod tests;\nfn a() {}\n",
        );
        assert_eq!(file.product_lines().count(), 3);
    }

    #[test]
    fn tests_and_testkit_are_not_product() {
        for (path, product) in [
            ("crates/mcp/src/envelope.rs", true),
            ("crates/mcp/src/tests.rs", false),
            ("crates/mcp/src/sse/tests/long.rs", false),
            ("crates/mcp/tests/goldens.rs", false),
            ("crates/testkit/src/lib.rs", false),
            ("xtask/src/main.rs", false),
        ] {
            assert_eq!(source(path, "").is_product(), product, "{path}");
        }
    }
}
