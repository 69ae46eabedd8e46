//! What outlives the process: one database in the data folder, and for each domain a trait with its
//! SQL behind it, so that whoever keeps something knows no SQL.
//!
//! Knows no source, no protocol and no configuration file.

mod changes;
mod error;
mod folder;
pub mod memory;
mod migrations;
mod open;
mod store;
mod time;

pub use changes::{Changed, Changes, Listening, Told};
pub use error::{Kind, Result, StoreError};
pub use store::{State, Store};
pub use time::Millis;
