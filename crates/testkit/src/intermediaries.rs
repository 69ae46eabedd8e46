//! Intermediaries between a gateway and a server: TLS termination and proxies.
//!
//! Must not know: what is sent through them.

mod certificate_authority;
mod http_proxy;
mod socks_proxy;
mod tls_terminator;

pub use certificate_authority::{CertificateAuthority, ServerCertificate};
pub use http_proxy::{HttpProxy, ProxyRequest};
pub use socks_proxy::SocksProxy;
pub use tls_terminator::TlsTerminator;
