//! The foreign peers that `cargo xtask tools` sets up.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Home;

/// Where the peers are.
pub(crate) struct Tools {
    dir: PathBuf,
    node: PathBuf,
}

impl Tools {
    /// Fails, and says what to do, where they are not set up.
    #[track_caller]
    pub(crate) fn find() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        match (variable("TIDEGATE_TOOLS"), variable("TIDEGATE_NODE")) {
            (Some(dir), Some(node)) if dir.is_dir() && node.is_file() => Self { dir, node },
            (dir, node) => panic!(
                "the foreign peers are not set up (TIDEGATE_TOOLS is {dir:?}, TIDEGATE_NODE is \
                 {node:?}). Run `cargo xtask test`, which sets them up and runs every test; or run \
                 `cargo xtask tools` first, and then `TIDEGATE_TOOLS=$PWD/target/tools \
                 TIDEGATE_NODE=$(command -v node) cargo test` with Node 22 or newer"
            ),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// The interpreter of this environment.
    pub(crate) fn python(&self, environment: &str) -> PathBuf {
        self.dir.join(environment).join("bin/python")
    }

    /// A file of a package from npm.
    pub(crate) fn npm(&self, path: &str) -> PathBuf {
        let script = self
            .dir
            .join("node/node_modules/@modelcontextprotocol")
            .join(path);
        assert!(script.is_file(), "{} is not there", script.display());
        script
    }

    /// A script of a package from npm.
    pub(crate) fn script(&self, home: &Home, path: &str) -> Command {
        let mut command = home.command(&self.node);
        command.arg(self.npm(path));
        command
    }

    /// A peer of our own in TypeScript.
    pub(crate) fn node_peer(&self, home: &Home, name: &str) -> Command {
        let mut command = home.command(&self.node);
        command.arg(peer(name)).env("TIDEGATE_TOOLS", &self.dir);
        command
    }

    /// A peer of our own in Python, with the SDK of this environment.
    pub(crate) fn python_peer(&self, home: &Home, environment: &str, name: &str) -> Command {
        let mut command = home.command(self.python(environment));
        command.arg("-B").arg(peer(name));
        command
    }
}

/// A peer of our own.
pub(crate) fn peer(name: &str) -> PathBuf {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    peers.join(name)
}
