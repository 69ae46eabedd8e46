//! Knows whether a set of tools is already there, as pinned.
//!
//! The stamp holds the pins themselves and is written last, so a set up that broke half-way or
//! whose pins changed is done again.
//! Must not know: how a set is installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Makes `dir` anew with `install`, unless its stamp says that it already holds these pins.
pub(crate) fn unless_stamped(
    name: &str,
    dir: &Path,
    pins: &str,
    install: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stamp = stamp_of(dir);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == pins) {
        eprintln!("tools: {name} is up to date");
        return Ok(());
    }
    eprintln!("tools: setting up {name} in {}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("could not clear {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("could not make {}", dir.display()))?;
    install().with_context(|| format!("could not set up {name}"))?;
    fs::write(&stamp, pins).with_context(|| format!("could not write {}", stamp.display()))
}

fn stamp_of(dir: &Path) -> PathBuf {
    dir.join(".pins")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn installs_once_and_again_when_a_pin_changes_or_it_failed() {
        let dir = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        let runs = Cell::new(0);
        let install = |pins: &str, good: bool| {
            unless_stamped("set", &dir, pins, || {
                runs.set(runs.get() + 1);
                anyhow::ensure!(good);
                Ok(())
            })
        };
        assert!(install("a==1", false).is_err());
        assert!(install("a==1", true).is_ok());
        assert!(install("a==1", true).is_ok());
        assert_eq!(runs.get(), 2);
        assert!(install("a==2", true).is_ok());
        assert_eq!(runs.get(), 3);
        fs::remove_dir_all(&dir).unwrap();
    }
}
