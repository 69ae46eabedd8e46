//! What stands between a gateway and a server: encryption, and proxies of several kinds.
//!
//! Must not know: what is said through it.

mod authority;
mod front;
mod proxy;
mod socks;

pub use authority::{Authority, Identity};
pub use front::TlsFront;
pub use proxy::{Asked, TestProxy};
pub use socks::SocksProxy;
