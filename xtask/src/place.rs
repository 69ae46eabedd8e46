//! Where things are: the workspace, its target folder, the tools of the tests.
//!
//! Must not know: what is done there.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Place {
    pub(crate) fn find() -> Result<Self> {
        // Cargo says at run time where this crate is; a binary started by hand was built here.
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .context("the xtask crate has no parent folder")?
            .to_owned();
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => std::path::absolute(dir).context("CARGO_TARGET_DIR is not a path")?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// What `cargo xtask tools` sets up; tests find it as `TIDEGATE_TOOLS`.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The pinned manifests of those tools.
    pub(crate) fn pins(&self) -> PathBuf {
        self.root.join("xtask/tools")
    }

    /// A path as people write it: from the root, with slashes.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}
