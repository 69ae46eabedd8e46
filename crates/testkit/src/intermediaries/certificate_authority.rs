//! A certificate authority for tests, and the certificates it issues.
//!
//! Must not know: who uses them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A certificate authority.
pub struct CertificateAuthority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A server certificate and its key.
pub struct ServerCertificate {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl CertificateAuthority {
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        // Authorities need distinct names to be distinguished.
        let name = format!("authority {}", COUNT.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Its own certificate, as PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Issues a certificate for a host.
    pub fn issue(&self, host: &str) -> ServerCertificate {
        self.issue_with(host, |_| {})
    }

    /// Issues an expired certificate for a host.
    pub fn issue_expired(&self, host: &str) -> ServerCertificate {
        self.issue_with(host, |params| {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        })
    }

    fn issue_with(
        &self,
        host: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> ServerCertificate {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([host.to_owned()]).expect("a host");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer);
        ServerCertificate {
            certificate: certificate.expect("a certificate").der().clone(),
            key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
        }
    }
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl ServerCertificate {
    /// A TLS server with this certificate and these ALPN protocols.
    pub(super) fn into_server_config(self, protocols: &[&str]) -> ServerConfig {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate], self.key)
            .expect("a key that fits the certificate");
        config.alpn_protocols = protocols
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        config
    }
}
