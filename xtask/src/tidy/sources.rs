//! The files that the checks look at.
//!
//! Must not know: any rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::place::Place;
use crate::run::output;

/// A text file of the repository.
pub(super) struct Source {
    /// From the root, with slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    /// The lines with their numbers, up to the file's own tests if it ends with them.
    pub(super) fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text).take(tests_start(&self.text))
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }

    /// The folder under `crates/` and the path inside it.
    pub(super) fn in_crate(&self) -> Option<(&str, &str)> {
        self.path.strip_prefix("crates/")?.split_once('/')
    }

    /// Whether it is part of what a crate ships, and not its tests.
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

/// How many lines come before an inline test module. Clippy sees to it that nothing follows one.
fn tests_start(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        })
        .unwrap_or(lines.len())
}

/// The manifests of the crates of the product.
pub(super) fn manifests(place: &Place) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for dir in entries(&place.root.join("crates"))? {
        let manifest = dir.join("Cargo.toml");
        if manifest.is_file() {
            found.push(read(place, &manifest)?);
        }
    }
    Ok(found)
}

/// The map of the code, which lists what is allowed by exception.
pub(super) fn architecture(place: &Place) -> Result<Source> {
    read(place, &place.root.join("ARCHITECTURE.md"))
}

/// Every Rust file of the crates, of the benchmark and of xtask.
pub(super) fn rust(place: &Place) -> Result<Vec<Source>> {
    let mut paths = Vec::new();
    collect(&place.root.join("crates"), &mut paths)?;
    for dir in ["bench", "xtask"] {
        collect(&place.root.join(dir), &mut paths)?;
    }
    paths.iter().map(|path| read(place, path)).collect()
}

/// Every file that git has, or would have after `git add`.
pub(super) fn tracked(place: &Place) -> Result<Vec<Source>> {
    let list = output(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(&place.root),
    )?;
    let paths = list.lines().map(|line| place.root.join(line));
    // A file that was deleted but not yet committed is still listed.
    paths
        .filter(|path| path.is_file())
        .map(|path| read(place, &path))
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

/// Sorted, so that problems come in the same order everywhere.
fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let about = || format!("could not list {}", dir.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).with_context(about)? {
        paths.push(entry.with_context(about)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read(place: &Place, path: &Path) -> Result<Source> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(Source {
        path: place.relative(path),
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
    fn an_inline_test_module_is_not_product() {
        let file = source(
            "crates/mcp/src/a.rs",
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n",
        );
        assert_eq!(file.product_lines().count(), 2);
        assert_eq!(file.lines().count(), 5);
    }

    #[test]
    fn a_test_module_in_its_own_file_hides_nothing() {
        let file = source(
            "crates/mcp/src/a.rs",
            "#[cfg(test)]\nmod tests;\nfn a() {}\n",
        );
        assert_eq!(file.product_lines().count(), 3);
    }

    #[test]
    fn tests_and_the_testkit_are_not_product() {
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
