//! Trusted certificate authorities, and TLS connections.

use std::io;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::stream::{HttpStream, Io};

/// The ALPN protocols, in order of preference.
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// Certificates of authorities, from a PEM file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateAuthorities(Vec<CertificateDer<'static>>);

impl CertificateAuthorities {
    /// Parses a PEM file. The error says what is wrong with it.
    pub fn read(pem: &[u8]) -> Result<Self, String> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates = certificates.map_err(|error| format!("is not a PEM file: {error}"))?;
        let mut usable = RootCertStore::empty();
        for certificate in &certificates {
            let added = usable.add(certificate.clone());
            added.map_err(|error| format!("contains an invalid certificate: {error}"))?;
        }
        match certificates.is_empty() {
            true => Err("contains no certificate in PEM format".to_owned()),
            false => Ok(Self(certificates)),
        }
    }
}

/// The trusted certificate authorities.
#[derive(Clone, Debug)]
pub struct TrustStore {
    /// For the certificates of servers.
    servers: Arc<RootCertStore>,
    /// For the certificates of proxies.
    proxies: Arc<RootCertStore>,
}

impl TrustStore {
    /// The authorities of this machine and Mozilla's: a machine may have no authorities.
    pub fn system() -> Self {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let native = rustls_native_certs::load_native_certs();
        for error in native.errors {
            tracing::debug!(%error, "cannot read a system certificate");
        }
        roots.add_parsable_certificates(native.certs);
        let roots = Arc::new(roots);
        Self {
            servers: Arc::clone(&roots),
            proxies: roots,
        }
    }

    /// Trusts only these authorities for servers.
    #[must_use]
    pub fn with_only(&self, authorities: &CertificateAuthorities) -> Self {
        let mut servers = RootCertStore::empty();
        servers.add_parsable_certificates(authorities.0.iter().cloned());
        Self {
            servers: Arc::new(servers),
            proxies: Arc::clone(&self.proxies),
        }
    }
}

/// Opens TLS connections. Sessions are resumed.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// For servers, over HTTP/2 or HTTP/1.1.
    pub(super) fn for_servers(trust: &TrustStore) -> Self {
        Self::new(&trust.servers, &[HTTP_2, HTTP_1])
    }

    /// For proxies, over HTTP/1.1.
    pub(super) fn for_proxies(trust: &TrustStore) -> Self {
        Self::new(&trust.proxies, &[HTTP_1])
    }

    fn new(roots: &Arc<RootCertStore>, protocols: &[&[u8]]) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider supports the default TLS versions")
            .with_root_certificates(Arc::clone(roots))
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Self(TlsConnector::from(Arc::new(config)))
    }

    /// Performs the TLS handshake with the host of this name or address.
    pub(super) async fn connect(&self, io: impl Io, host: &str) -> io::Result<HttpStream> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let stream = self.0.connect(name, TokioIo::new(io)).await?;
        let (_, session) = stream.get_ref();
        Ok(HttpStream {
            is_http2: session.alpn_protocol() == Some(HTTP_2),
            is_forwarded: false,
            io: Box::new(TokioIo::new(stream)),
        })
    }
}
