//! The catalog of a server: loaded over a connection, refreshed on a schedule, one for each class of
//! clients.

pub(crate) mod client_class;
pub(crate) mod loader;
pub(crate) mod refresh;
pub(crate) mod schedule;
