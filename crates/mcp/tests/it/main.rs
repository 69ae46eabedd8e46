//! Tests of the wire formats: golden files for lift and lower in each revision, the coverage they
//! must have, and rules that hold for all of them.
//!
//! A golden file is `tests/data/<revision>/lift-<topic>.txt` or `lower-<topic>.txt`. It is a list of
//! cases: a line `==== title`, the input, a line `----`, the expected output. `UPDATE_GOLDEN=1`
//! rewrites the output.

mod check_order;
mod coverage;
mod describe;
mod golden;
mod lift;
mod lower;
mod older_clients;

use golden::{GoldenKind, check};

#[test]
fn lift_matches_the_golden_files() {
    check(GoldenKind::Lift, lift::output);
}

#[test]
fn lower_matches_the_golden_files() {
    check(GoldenKind::Lower, lower::output);
}
