//! Whose certificates are trusted, and how a connection is encrypted.

use std::io;
use std::sync::Arc;

use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::stream::{Io, Stream};

/// What a server may choose to speak, the best first.
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// Certificates of authorities, as a PEM file has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateAuthorities(Vec<CertificateDer<'static>>);

impl CertificateAuthorities {
    /// Reads a PEM file, or says what is wrong with it.
    pub fn read(pem: &[u8]) -> Result<Self, String> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let read = read.map_err(|error| format!("is no PEM file: {error}"))?;
        let mut usable = RootCertStore::empty();
        for certificate in &read {
            let added = usable.add(certificate.clone());
            added.map_err(|error| format!("has a certificate that cannot be used: {error}"))?;
        }
        match read.is_empty() {
            true => Err("has no certificate in PEM form".to_owned()),
            false => Ok(Self(read)),
        }
    }
}

/// The authorities whose word counts.
#[derive(Clone, Debug)]
pub struct TrustStore {
    /// On who a server is.
    servers: Arc<RootCertStore>,
    /// On who a proxy is.
    proxies: Arc<RootCertStore>,
}

impl TrustStore {
    /// Those that this machine trusts, and those that browsers do, for a machine may have none.
    pub fn system() -> Self {
        let mut roots = RootCertStore::empty();
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        let native = rustls_native_certs::load_native_certs();
        for error in native.errors {
            tracing::debug!(%error, "some certificates of this machine cannot be read");
        }
        roots.add_parsable_certificates(native.certs);
        let roots = Arc::new(roots);
        Self {
            servers: Arc::clone(&roots),
            proxies: roots,
        }
    }

    /// On servers, these and no others.
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

/// Encrypts connections, and remembers sessions so that the next one is opened faster.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// For requests, in whichever version of HTTP the server likes best.
    pub(super) fn of_server(trust: &TrustStore) -> Self {
        Self::new(&trust.servers, &[HTTP_2, HTTP_1])
    }

    /// For the way to a proxy, which is spoken to in the oldest version.
    pub(super) fn of_proxy(trust: &TrustStore) -> Self {
        Self::new(&trust.proxies, &[HTTP_1])
    }

    fn new(roots: &Arc<RootCertStore>, protocols: &[&[u8]]) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the default versions")
            .with_root_certificates(Arc::clone(roots))
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Self(TlsConnector::from(Arc::new(config)))
    }

    /// Encrypts a connection to the host of this name or address.
    pub(super) async fn encrypt(&self, io: impl Io, host: &str) -> io::Result<Stream> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let stream = self.0.connect(name, TokioIo::new(io)).await?;
        let (_, session) = stream.get_ref();
        Ok(Stream {
            http2: session.alpn_protocol() == Some(HTTP_2),
            forwarded: false,
            io: Box::new(TokioIo::new(stream)),
        })
    }
}
