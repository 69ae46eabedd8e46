//! The catalogs of a server: loaded over a connection, refreshed on a schedule, one per class of
//! clients, and published with everything else that is known about the server in one snapshot.
//!
//! Must not know: calls, the pool, or when a connection is opened.

pub(crate) mod client_class;
pub(crate) mod loader;
pub(crate) mod refresh;
pub(crate) mod saved;
pub(crate) mod schedule;
pub(crate) mod snapshot;
