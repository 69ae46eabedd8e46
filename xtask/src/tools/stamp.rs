//! Records whether a set of tools is installed as pinned.
//!
//! The stamp contains the pins and is written last, so an installation that was interrupted or whose
//! pins changed is repeated.
//! Must not know: how a set is installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Recreates `dir` with `install`, unless its stamp shows that these pins are installed.
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
    eprintln!("tools: installing {name} in {}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("could not clear {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("could not create {}", dir.display()))?;
    install().with_context(|| format!("could not install {name}"))?;
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
    fn installs_once_and_repeats_after_a_failure_or_a_changed_pin() {
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
