//! The folders of the workspace: its root, its target folder, the tools of the tests.
//!
//! Must not know: what the folders are used for.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable at run time; a binary started by hand uses the path it was built in.
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

    /// What `cargo xtask tools` installs; tests get the path in `TIDEGATE_TOOLS`.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The pinned manifests of those tools.
    pub(crate) fn pins(&self) -> PathBuf {
        self.root.join("xtask/tools")
    }

    /// A path relative to the root, with slashes.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}
