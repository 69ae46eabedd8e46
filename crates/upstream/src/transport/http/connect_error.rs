//! Explains why a request got no response: a message for people, with the technical cause for the
//! log.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use http::StatusCode;
use hyper_util::client::legacy;
use rustls::CertificateError;
use tidegate_core::Error;

use super::resolver::UnknownHost;
use crate::error::{source_failed, source_unreachable};

type Cause = Box<dyn StdError + Send + Sync>;

/// Why no connection could be opened.
#[derive(Debug)]
pub(crate) enum ConnectError {
    Server(Cause),
    Proxy(Cause),
    /// The proxy refused to connect us to the server.
    ProxyRefused(StatusCode),
    Timeout(Duration),
}

impl ConnectError {
    pub(super) fn server(cause: impl Into<Cause>) -> Self {
        Self::Server(cause.into())
    }

    pub(super) fn proxy(cause: impl Into<Cause>) -> Self {
        Self::Proxy(cause.into())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(_) => f.write_str("no connection to the server"),
            Self::Proxy(_) => f.write_str("no connection to the proxy"),
            Self::ProxyRefused(status) => write!(f, "the proxy responded with {status}"),
            Self::Timeout(_) => f.write_str("connect timeout"),
        }
    }
}

impl StdError for ConnectError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Server(cause) | Self::Proxy(cause) => Some(cause.as_ref()),
            Self::ProxyRefused(_) | Self::Timeout(_) => None,
        }
    }
}

/// The error of a request that got no response. `origin` is the scheme, host and port of the server.
pub(super) fn explain(error: &legacy::Error, origin: &str) -> Error {
    let explained = match find::<ConnectError>(error) {
        Some(ConnectError::ProxyRefused(status)) => return proxy_refused(*status),
        Some(ConnectError::Timeout(limit)) => source_unreachable(&format!(
            "{origin}: no connection within {} s; check that the source's server is running and can \
             be reached from here",
            limit.as_secs()
        )),
        Some(ConnectError::Proxy(cause)) => source_unreachable(&format!(
            "cannot use the proxy to the source: {}; check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and \
             NO_PROXY",
            proxy_failure(cause.as_ref())
        )),
        Some(ConnectError::Server(cause)) => {
            source_unreachable(&format!("{origin}: {}", server_failure(cause.as_ref())))
        }
        None => source_failed(connection_failure(error)),
    };
    explained.with_cause(cause_chain(error))
}

/// The proxy refused to connect us to the server.
pub(super) fn proxy_refused(status: StatusCode) -> Error {
    let advice = match status {
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            "it requires credentials: write http://name:password@proxy in the proxy variable"
        }
        _ => "ask its administrator, or add the source's host to NO_PROXY",
    };
    source_failed(&format!(
        "the proxy refused the connection to the source (HTTP status {}); {advice}",
        status.as_u16()
    ))
}

fn server_failure(cause: &(dyn StdError + 'static)) -> &'static str {
    if find::<UnknownHost>(cause).is_some() {
        return "the source's host name cannot be resolved; check `url`";
    }
    if let Some(error) = find::<rustls::Error>(cause) {
        return tls_failure(error);
    }
    match io_error_kind(cause) {
        Some(io::ErrorKind::ConnectionRefused) => {
            "connection refused; check that the source's server is running, and its `url`"
        }
        Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            "the source closed the connection during the TLS handshake; check that `https` in its \
             `url` is right"
        }
        _ => "cannot connect to the source; check its `url` and the network",
    }
}

fn tls_failure(error: &rustls::Error) -> &'static str {
    use CertificateError as Invalid;
    let rustls::Error::InvalidCertificate(invalid) = error else {
        return match error {
            rustls::Error::InvalidMessage(_) => {
                "the source does not use TLS; its `url` may have to begin with `http`"
            }
            _ => "the TLS handshake with the source failed; check its TLS settings",
        };
    };
    match invalid {
        Invalid::UnknownIssuer | Invalid::BadSignature => {
            "the source's certificate was issued by an unknown authority; if you trust it, add its \
             certificate to `ca`"
        }
        Invalid::NotValidForName | Invalid::NotValidForNameContext { .. } => {
            "the source's certificate is for another host name; check `url`"
        }
        Invalid::Expired | Invalid::ExpiredContext { .. } => {
            "the source's certificate has expired; renew it"
        }
        Invalid::NotValidYet | Invalid::NotValidYetContext { .. } => {
            "the source's certificate is not valid yet; check the clocks"
        }
        Invalid::Revoked => "the source's certificate has been revoked; replace it",
        _ => "the source's certificate is invalid; see the log for details",
    }
}

fn proxy_failure(cause: &(dyn StdError + 'static)) -> &'static str {
    if find::<UnknownHost>(cause).is_some() {
        return "its host name cannot be resolved";
    }
    if find::<rustls::Error>(cause).is_some() {
        return "its certificate is invalid, or it does not use TLS";
    }
    match io_error_kind(cause) {
        Some(io::ErrorKind::ConnectionRefused) => "connection refused",
        _ => "it cannot be reached, or does not respond as a proxy",
    }
}

/// A connection was open, but no response arrived over it.
fn connection_failure(error: &legacy::Error) -> &'static str {
    use io::ErrorKind::{HostUnreachable, NetworkUnreachable, TimedOut};
    let is_unreachable = matches!(
        io_error_kind(error),
        Some(HostUnreachable | NetworkUnreachable | TimedOut)
    );
    let Some(error) = find::<hyper::Error>(error) else {
        return "cannot connect to the source";
    };
    if error.is_parse_too_large() {
        "the headers of the source's response exceed the size limit"
    } else if error.is_timeout() || is_unreachable {
        "the source stopped responding, even to keepalive probes; check its server"
    } else if error.is_parse() {
        "the source does not use HTTP at this address; check `url`"
    } else {
        "the source closed the connection before it responded"
    }
}

fn io_error_kind(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    find::<io::Error>(error).map(io::Error::kind)
}

/// The first error of this type among an error and its causes.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    causes(error).find_map(<dyn StdError>::downcast_ref)
}

fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

/// The cause of an error. The error inside an I/O error counts too, although `source` skips it.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    let inner = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    inner.map(|inner| inner as _).or_else(|| error.source())
}

/// An error and all its causes on one line.
fn cause_chain(error: &(dyn StdError + 'static)) -> String {
    let mut messages: Vec<String> = causes(error).map(ToString::to_string).collect();
    messages.dedup();
    messages.join(": ")
}
