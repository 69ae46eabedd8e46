//! Persistent storage: one database in the data folder, and a trait with its SQL for each domain, so
//! that sources contain no SQL.
//!
//! Must not know sources, the protocol or the configuration file.

mod error;
mod events;
pub mod memory;
mod sqlite;
mod store;
mod time;

pub use error::{Result, StoreError, StoreErrorKind};
pub use events::{FrequentPollGuard, StoreChange, StoreEvent, StoreEvents};
pub use store::{Store, StoreState};
pub use time::UnixMillis;
