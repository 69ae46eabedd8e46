//! What the tests need besides Rust: a Node, peers and servers from npm, Python environments with
//! more of both.
//!
//! Versions are pinned in `xtask/tools`; what is set up is used again until a pin changes.
//! Must not know: what the tests do with them.

mod node;
mod python;
mod stamp;

use std::path::PathBuf;

use anyhow::Result;

use crate::place::Place;
use crate::system::{GIT, provide};

pub(crate) struct Tools {
    /// The folder that holds everything.
    pub(crate) dir: PathBuf,
    /// A node of a version that the peers can run on.
    pub(crate) node: PathBuf,
}

pub(crate) fn set_up(place: &Place) -> Result<Tools> {
    let node = node::runtime(place)?;
    node::packages(place)?;
    python::environment(place, "python-v1")?;
    python::environment(place, "python-v2")?;
    python::environment(place, "python-servers")?;
    // One of the servers works on repositories.
    provide(&GIT)?;
    Ok(Tools {
        dir: place.tools(),
        node,
    })
}
