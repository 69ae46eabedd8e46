//! Remote MCP servers as sources. A server of any revision, over HTTP or stdio, looks to the core
//! like any other source: a catalog, calls, changes and health.
//!
//! Read `remote` first: what a source is made of. `link` is the way to a server, `probe` finds out
//! how it speaks, `lists` takes in what it offers, `relay` carries one call.
//!
//! Knows no client, no door and no role.

mod config;
mod connect;
mod follow;
mod link;
mod lists;
mod pool;
mod probe;
mod relay;
mod remote;
mod watches;

pub use config::{Command, RemoteConfig, Transport};
pub use remote::Remote;
