//! The lock file of the fuzz crate is up to date.
//!
//! The crate is outside of the workspace, so nothing else notices before the last stage of CI.
//! Must not know: what is locked.

use super::Problem;
use crate::run::{cargo, output};
use crate::workspace::Workspace;

const METADATA: [&str; 7] = [
    "metadata",
    "--quiet",
    "--locked",
    "--format-version",
    "1",
    "--manifest-path",
    "fuzz/Cargo.toml",
];

pub(super) fn check(workspace: &Workspace) -> Option<Problem> {
    output(cargo().args(METADATA).current_dir(&workspace.root)).err()?;
    let what = "is out of date; \
                run: cargo update --workspace --manifest-path fuzz/Cargo.toml";
    Some(Problem::new("fuzz/Cargo.lock", 1, what))
}
