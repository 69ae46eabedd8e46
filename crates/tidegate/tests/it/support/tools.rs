//! The foreign peers that `cargo xtask tools` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Home;

/// Paths of the peers.
pub(crate) struct Tools {
    dir: PathBuf,
    node: PathBuf,
}

impl Tools {
    /// Panics with instructions if the peers are not installed.
    #[track_caller]
    pub(crate) fn find() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        match (variable("TIDEGATE_TOOLS"), variable("TIDEGATE_NODE")) {
            (Some(dir), Some(node)) if dir.is_dir() && node.is_file() => Self { dir, node },
            (dir, node) => panic!(
                "the foreign peers are not installed (TIDEGATE_TOOLS is {dir:?}, TIDEGATE_NODE is \
                 {node:?}). Run `cargo xtask test`, which installs them and runs every test; or run \
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

    /// The path of a Chromium; panics with instructions if there is none.
    #[track_caller]
    pub(crate) fn chromium(&self) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&path).collect();
        let programs = ["chromium-headless-shell", "chromium"].into_iter();
        let found = programs
            .flat_map(|program| folders.iter().map(move |folder| folder.join(program)))
            .find(|path| path.is_file());
        let found = found.expect("Chromium is not installed. Run `cargo xtask tools`");
        found.to_str().unwrap().to_owned()
    }

    /// The Python interpreter of this environment.
    pub(crate) fn python(&self, environment: &str) -> PathBuf {
        self.dir.join(environment).join("bin/python")
    }

    /// A file of an npm package.
    pub(crate) fn npm(&self, path: &str) -> PathBuf {
        let script = self
            .dir
            .join("node/node_modules/@modelcontextprotocol")
            .join(path);
        assert!(script.is_file(), "missing file: {}", script.display());
        script
    }

    /// The command of a server in a set: a file of an npm package, or a script of a Python
    /// environment.
    pub(crate) fn program(&self, set: &str, script: &str) -> Vec<String> {
        let set = self.dir.join(set);
        let (interpreter, script) = match set.join("node_modules") {
            modules if modules.is_dir() => (self.node.clone(), modules.join(script)),
            _ => (set.join("bin/python"), set.join("bin").join(script)),
        };
        assert!(script.is_file(), "missing file: {}", script.display());
        [interpreter, script]
            .map(|path| path.to_str().unwrap().to_owned())
            .into()
    }

    /// A command that runs a script of an npm package.
    pub(crate) fn script(&self, home: &Home, path: &str) -> Command {
        let mut command = home.command(&self.node);
        command.arg(self.npm(path));
        command
    }

    /// A command that runs one of our TypeScript peers.
    pub(crate) fn node_peer(&self, home: &Home, name: &str) -> Command {
        let mut command = home.command(&self.node);
        command.arg(peer(name)).env("TIDEGATE_TOOLS", &self.dir);
        command
    }

    /// A command that runs one of our Python peers with the SDK of this environment.
    pub(crate) fn python_peer(&self, home: &Home, environment: &str, name: &str) -> Command {
        let mut command = home.command(self.python(environment));
        command.arg("-B").arg(peer(name));
        command
    }
}

/// The path of one of our peers.
pub(crate) fn peer(name: &str) -> PathBuf {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    peers.join(name)
}
