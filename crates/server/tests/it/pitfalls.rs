//! Fifteen pitfalls of the protocol that implementations often get wrong.

mod delivery;
mod requests;
mod responses;
