//! Remote MCP servers as sources. A server of any revision, over HTTP or stdio, looks to the core
//! like any other source: a catalog, calls, changes and health.
//!
//! A call goes from `relay` (select a connection, send, retry once) through `session` (encode,
//! match responses to requests) to `transport` (bytes); `relay/events` turns the responses into events.
//! `supervisor` keeps the server connected, and `catalog` its lists fresh; both publish one
//! snapshot, which every reader loads once.
//!
//! Must not know: clients' transports, or roles.

mod backoff;
mod catalog;
mod change_stream;
#[cfg(target_os = "linux")]
pub mod child_guard;
mod client_key;
mod config;
mod error;
mod log_rate_limit;
mod occupancy;
mod pool;
mod relay;
mod remote;
mod resource_subscriptions;
mod sampled_models;
mod session;
mod supervisor;
mod transport;

pub use config::{
    CatalogFile, ConnectionSettings, EraSetting, ListObserver, ProgramTarget, RemoteConfig,
    RemoteSection, RemoteSettings, ServerTarget, Sharing, TransportConfig,
};
pub use remote::Remote;
pub use session::CREDENTIALS_REQUIRED;
pub use transport::http::{
    CertificateAuthorities, Endpoint, Proxies, Proxy, TrustStore, UnusableProxy,
};
pub use transport::stdio::{ChildGuard, Command, INHERITED_VARIABLES};
