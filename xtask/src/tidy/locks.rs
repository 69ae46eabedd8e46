//! The lock file of the fuzz crate fits the crates it uses.
//!
//! It is outside of the workspace, so nothing else sees it go stale before the last stage of CI.
//! Must not know: what is locked.

use super::Problem;
use crate::place::Place;
use crate::run::{cargo, output};

const METADATA: [&str; 7] = [
    "metadata",
    "--quiet",
    "--locked",
    "--format-version",
    "1",
    "--manifest-path",
    "fuzz/Cargo.toml",
];

pub(super) fn check(place: &Place) -> Option<Problem> {
    output(cargo().args(METADATA).current_dir(&place.root)).err()?;
    let what = "does not fit the workspace any more; \
                run: cargo update --workspace --manifest-path fuzz/Cargo.toml";
    Some(Problem::new("fuzz/Cargo.lock", 1, what))
}
