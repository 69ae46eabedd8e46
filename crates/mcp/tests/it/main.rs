//! The wire, seen from outside: golden files for lift and lower in each revision, what they must
//! cover, and the rules that hold whatever they say.
//!
//! A golden file is `tests/data/<revision>/lift-<topic>.txt` or `lower-<topic>.txt`. It holds cases:
//! a line `==== title`, the input, a line `----`, the outcome. `UPDATE_GOLDEN=1` writes outcomes.

mod coverage;
mod golden;
mod lift;
mod lower;
mod older_clients;
mod order;
mod show;

use golden::{Kind, check};

#[test]
fn lift_goldens() {
    check(Kind::Lift, lift::outcome);
}

#[test]
fn lower_goldens() {
    check(Kind::Lower, lower::outcome);
}
