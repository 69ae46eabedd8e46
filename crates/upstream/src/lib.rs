//! Remote MCP servers as sources. A server of any revision, over HTTP or stdio, looks to the core
//! like any other source: a catalog, calls, changes and health.
//!
//! Read `remote` first: what a source is made of. `link` is the way to a server, `endpoint` its
//! connections over HTTP; `greet` finds out how it speaks, `lists` takes in what it offers, `relay`
//! carries one call.
//!
//! Knows no client, no transport and no role.

mod backoff;
mod catalog;
mod change_stream;
#[cfg(target_os = "linux")]
pub mod child_guard;
mod config;
mod log_rate_limit;
mod pool;
mod relay;
mod remote;
mod resource_subscriptions;
mod session;
mod supervisor;
mod transport;

pub use config::{
    ChildGuard, Command, EraSetting, ListObserver, RemoteConfig, Sharing, TransportConfig,
};
pub use remote::Remote;
pub use session::WANTS_CREDENTIALS;
pub use transport::http::{
    CertificateAuthorities, Endpoint, Proxies, Proxy, TrustStore, UnusableProxy,
};
