//! Remote MCP servers as sources. A server of any revision, over HTTP or stdio, looks to the core
//! like any other source: a catalog, calls, changes and health.
//!
//! Read `remote` first: what a source is made of. `link` is the way to a server, `endpoint` its
//! connections over HTTP; `greet` finds out how it speaks, `lists` takes in what it offers, `relay`
//! carries one call.
//!
//! Knows no client, no transport and no role.

mod again;
mod backoff;
#[cfg(target_os = "linux")]
pub mod child_guard;
mod classes;
mod config;
mod connect;
mod elsewhere;
mod endpoint;
mod follow;
mod fresh;
mod greet;
mod keep;
mod lease;
mod link;
mod lists;
mod news;
mod park;
mod pool;
mod probe;
mod ration;
mod relay;
mod remote;
mod task;
mod tend;
mod watches;

pub use config::{
    ChildGuard, Command, EraSetting, ListObserver, RemoteConfig, Sharing, TransportConfig,
};
pub use endpoint::{CertificateAuthorities, Endpoint, Proxies, Proxy, TrustStore, UnusableProxy};
pub use link::WANTS_CREDENTIALS;
pub use remote::Remote;
