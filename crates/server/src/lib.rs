//! The doors: how clients come in.

mod limits;
pub use limits::Limits;
