//! The fifteen places where implementers of the protocol get it wrong, and that we do not.

mod answers;
mod delivery;
mod requests;
