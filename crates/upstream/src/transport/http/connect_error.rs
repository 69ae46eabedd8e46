//! Why a server cannot be asked, in words for people. What the log may know beside them is the
//! cause.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use http::StatusCode;
use hyper_util::client::legacy;
use rustls::CertificateError;
use tidegate_core::Error;

use super::connector::PATIENCE;
use super::resolver::UnknownName;
use crate::session::{not_asked, unavailable};

type Cause = Box<dyn StdError + Send + Sync>;

/// Why no connection could be opened.
#[derive(Debug)]
pub(crate) enum Failure {
    /// On the way to the server, or at it.
    Server(Cause),
    /// On the way to the proxy, or at it.
    Proxy(Cause),
    /// The proxy does not connect us to the server.
    ProxyRefused(StatusCode),
    TooSlow,
}

impl Failure {
    pub(super) fn server(cause: impl Into<Cause>) -> Self {
        Self::Server(cause.into())
    }

    pub(super) fn proxy(cause: impl Into<Cause>) -> Self {
        Self::Proxy(cause.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(_) => f.write_str("no connection to the server"),
            Self::Proxy(_) => f.write_str("no connection to the proxy"),
            Self::ProxyRefused(status) => write!(f, "the proxy answered {status}"),
            Self::TooSlow => f.write_str("no connection in time"),
        }
    }
}

impl StdError for Failure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Server(cause) | Self::Proxy(cause) => Some(cause.as_ref()),
            Self::ProxyRefused(_) | Self::TooSlow => None,
        }
    }
}

/// What became of a request that got no answer.
pub(super) fn explain(error: &legacy::Error) -> Error {
    let failure = find::<Failure>(error);
    let told = match failure {
        Some(Failure::ProxyRefused(status)) => proxy_refused(*status),
        Some(Failure::TooSlow) => not_asked(&format!(
            "the source took no connection within {} seconds; check that its server runs and can \
             be reached from here",
            PATIENCE.as_secs()
        )),
        Some(Failure::Proxy(cause)) => not_asked(&format!(
            "the proxy on the way to the source cannot be used: {}; check the variables \
             HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY",
            at_proxy(cause.as_ref())
        )),
        Some(Failure::Server(cause)) => not_asked(at_server(cause.as_ref())),
        None => unavailable(on_the_connection(error)),
    };
    told.with_cause(chain(error))
}

/// The proxy does not connect us to the server.
pub(super) fn proxy_refused(status: StatusCode) -> Error {
    let advice = match status {
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            "it wants a name and a password, written as http://name:password@proxy in the variable \
             that names it"
        }
        _ => "ask who runs it, or name the source's host in NO_PROXY",
    };
    unavailable(&format!(
        "the proxy does not let us through to the source (HTTP status {}); {advice}",
        status.as_u16()
    ))
}

fn at_server(cause: &(dyn StdError + 'static)) -> &'static str {
    if find::<UnknownName>(cause).is_some() {
        return "the source's host name is not known here; check its `url`";
    }
    if let Some(refusal) = find::<rustls::Error>(cause) {
        return certificate(refusal);
    }
    match kind(cause) {
        Some(io::ErrorKind::ConnectionRefused) => {
            "nothing listens at the source's address; check that its server runs, and its `url`"
        }
        Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            "the source closed the connection while it was being encrypted; check that its `url` \
             is right to begin with https"
        }
        _ => "the source's address cannot be reached; check its `url` and the network",
    }
}

fn certificate(refusal: &rustls::Error) -> &'static str {
    use CertificateError as Bad;
    let rustls::Error::InvalidCertificate(bad) = refusal else {
        return match refusal {
            rustls::Error::InvalidMessage(_) => {
                "the source does not encrypt its connections; its `url` may have to begin with http"
            }
            _ => "the source and we found no way to encrypt a connection; check its TLS settings",
        };
    };
    match bad {
        Bad::UnknownIssuer | Bad::BadSignature => {
            "the source's certificate was issued by nobody we trust; if its issuer is to be \
             trusted, name the issuer's certificate in `ca`"
        }
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            "the source's certificate is for another host name; check its `url`"
        }
        Bad::Expired | Bad::ExpiredContext { .. } => {
            "the source's certificate has expired; it has to be renewed"
        }
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
            "the source's certificate is not valid yet; check the clocks"
        }
        Bad::Revoked => "the source's certificate has been revoked; it needs another",
        _ => "the source's certificate cannot be accepted; the log says why",
    }
}

fn at_proxy(cause: &(dyn StdError + 'static)) -> &'static str {
    if find::<UnknownName>(cause).is_some() {
        return "its host name is not known here";
    }
    if find::<rustls::Error>(cause).is_some() {
        return "its certificate cannot be accepted, or it does not encrypt connections";
    }
    match kind(cause) {
        Some(io::ErrorKind::ConnectionRefused) => "nothing listens at its address",
        _ => "it cannot be reached, or does not answer as a proxy should",
    }
}

/// A connection was open, but no answer came over it.
fn on_the_connection(error: &legacy::Error) -> &'static str {
    use io::ErrorKind::{HostUnreachable, NetworkUnreachable, TimedOut};
    let unreachable = matches!(
        kind(error),
        Some(HostUnreachable | NetworkUnreachable | TimedOut)
    );
    let Some(error) = find::<hyper::Error>(error) else {
        return "the source cannot be reached";
    };
    if error.is_parse_too_large() {
        "the head of the source's answer is larger than allowed"
    } else if error.is_timeout() || unreachable {
        "the source has stopped answering, also to whether it is still there; check its server"
    } else if error.is_parse() {
        "the source does not speak HTTP at its address; check its `url`"
    } else {
        "the source closed the connection before it answered"
    }
}

fn kind(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    find::<io::Error>(error).map(io::Error::kind)
}

/// The first error of this type among an error and its causes.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    causes(error).find_map(<dyn StdError>::downcast_ref)
}

fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| inner(*error))
}

/// The cause of an error. What an I/O error carries is its cause too, though it does not say so.
fn inner<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    let carried = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    carried
        .map(|carried| carried as _)
        .or_else(|| error.source())
}

/// An error and all its causes on one line.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut told: Vec<String> = causes(error).map(ToString::to_string).collect();
    told.dedup();
    told.join(": ")
}
