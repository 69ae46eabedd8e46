//! The SQLite backend: one database file in the data folder, and the log of changes inside it.
//!
//! Must not know what the domains store.

mod change_log;
mod database;
mod error;
mod file;
mod migrations;
mod write_transaction;

pub(crate) use change_log::ChangeLog;
pub(crate) use database::Database;
pub(crate) use error::from_sqlx;
pub(crate) use write_transaction::WriteTransaction;
