//! What the tests need besides Rust: Node.js, clients and servers from npm, Python environments with
//! more of both, and a browser.
//!
//! Versions are pinned in `xtask/tools`; an installation is reused until a pin changes.
//! Must not know: what the tests do with them.

mod node;
mod python;
mod stamp;

use std::path::PathBuf;

use anyhow::Result;

use crate::system::{CHROMIUM, GIT, provide};
use crate::workspace::Workspace;

pub(crate) struct Tools {
    /// The folder that contains all tools.
    pub(crate) dir: PathBuf,
    /// A Node.js binary that is new enough.
    pub(crate) node: PathBuf,
}

/// Installs the servers that only `cargo xtask parity` runs.
pub(crate) fn set_up_parity(workspace: &Workspace) -> Result<()> {
    node::parity_servers(workspace)?;
    python::environment(workspace, "parity-python-v1")?;
    python::environment(workspace, "parity-python-v2")
}

pub(crate) fn set_up(workspace: &Workspace) -> Result<Tools> {
    let node = node::runtime(workspace)?;
    node::packages(workspace)?;
    python::environment(workspace, "python-v1")?;
    python::environment(workspace, "python-v2")?;
    python::environment(workspace, "python-servers")?;
    // One of the servers under test works on git repositories.
    provide(&GIT)?;
    // One of them drives a browser, and apps are pages.
    provide(&CHROMIUM)?;
    Ok(Tools {
        dir: workspace.tools(),
        node,
    })
}
