//! Intermediaries between a gateway and a server: TLS termination and proxies.
//!
//! Must not know: what is sent through them.

mod certificate_authority;
mod http_proxy;
mod socks_proxy;
mod tls_terminator;

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;

pub use certificate_authority::{CertificateAuthority, ServerCertificate};
pub use http_proxy::{HttpProxy, ProxyRequest};
pub use socks_proxy::SocksProxy;
pub use tls_terminator::TlsTerminator;

/// Listens on a free port of 127.0.0.1.
async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("the socket has an address");
    (listener, address)
}
