//! The doors: how clients come in, over HTTP and over stdio.
//!
//! A door takes bytes and a credential (steps 1 and 2) and writes messages (step 8). What lies
//! between is `path`, the same for every door. Legacy sessions live here and nowhere below.
//!
//! Knows no SQL and no source by name.

mod doors;
mod frames;
mod http;
mod in_flight;
mod limits;
mod load;
mod path;
mod pipe;
mod questions;
mod refusal;
mod rounds;
mod session;
mod stdio;
mod subscribe;

pub use doors::Doors;
pub use http::{Exposition, HttpConfig, Listener, serve_http};
pub use limits::Limits;
pub use load::Load;
pub use stdio::serve_stdio;
