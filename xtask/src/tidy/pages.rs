//! The generated reference pages are what the code would generate now.
//!
//! Must not know: how a page is made; a test of the binary's crate does.

use super::Problem;
use crate::place::Place;
use crate::run::{cargo, run};

const TEST: [&str; 6] = ["test", "--quiet", "-p", "tidegate", "--lib", "reference"];

pub(super) fn check(place: &Place) -> Option<Problem> {
    let error = run(cargo().args(TEST).current_dir(&place.root)).err()?;
    let what = format!("may not be what the code generates: {error:#}; see the test's output");
    Some(Problem::new("docs/reference", 1, what))
}
