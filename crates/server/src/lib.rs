//! The transports: HTTP and stdio for clients, and the sessions of the legacy era.
//!
//! A transport reads messages and credentials (steps 1 and 2) and writes responses (step 8).
//! Everything in between is `dispatch` and `execution`, which all transports share.
//!
//! Knows no SQL and no source by name.

mod admission;
mod change_delivery;
mod dispatch;
mod duplex_transport;
mod error_response;
mod execution;
mod handshake;
mod http;
mod in_flight;
mod limits;
mod log_delivery;
mod outgoing;
mod requester;
mod session;
mod shared_pool;
mod stdio;
mod subscribe;
mod transports;

pub use admission::Admission;
pub use http::{ErrorStatus, Exposition, HttpConfig, Listener, serve_http};
pub use limits::{TransportLimits, TransportLimitsSection};
pub use stdio::serve_stdio;
pub use transports::Transports;
