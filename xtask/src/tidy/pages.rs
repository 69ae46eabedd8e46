//! The generated reference pages are up to date.
//!
//! Must not know: how a page is generated; a test of the crate `tidegate` does.

use super::Problem;
use crate::run::{cargo, run};
use crate::workspace::Workspace;

const TEST: [&str; 6] = ["test", "--quiet", "-p", "tidegate", "--lib", "reference"];

pub(super) fn check(workspace: &Workspace) -> Option<Problem> {
    let error = run(cargo().args(TEST).current_dir(&workspace.root)).err()?;
    let what = format!("may be out of date: {error:#}; see the output of the test");
    Some(Problem::new("docs/reference", 1, what))
}
