//! The transports: how clients come in, over HTTP and over stdio.
//!
//! A transport takes bytes and a credential (steps 1 and 2) and writes messages (step 8). What lies
//! between is `path`, the same for every transport. Legacy sessions live here and nowhere below.
//!
//! Knows no SQL and no source by name.

mod admission;
mod dispatch;
mod duplex_transport;
mod frames;
mod http;
mod in_flight;
mod limits;
mod refusal;
mod session;
mod stdio;
mod subscribe;
mod transports;

pub use admission::Admission;
pub use http::{Exposition, HttpConfig, Listener, serve_http};
pub use limits::Limits;
pub use stdio::serve_stdio;
pub use transports::Transports;
