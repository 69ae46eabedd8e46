//! An authority that nobody but a test trusts, and what it vouches for.
//!
//! Must not know: who asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// An authority.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key.
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        // Two of one name would be taken for each other.
        let name = format!("authority {}", COUNT.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Its certificate, for a file.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for a host.
    pub fn vouch_for(&self, host: &str) -> Identity {
        self.issue(host, |_| {})
    }

    /// A certificate for a host, of long ago.
    pub fn vouched_for(&self, host: &str) -> Identity {
        self.issue(host, |params| {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        })
    }

    fn issue(&self, host: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([host.to_owned()]).expect("a host");
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer);
        Identity {
            certificate: certificate.expect("a certificate").der().clone(),
            key: PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
        }
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Identity {
    /// A server of this identity that speaks these protocols.
    pub(super) fn server(self, protocols: &[&str]) -> ServerConfig {
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
