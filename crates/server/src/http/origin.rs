//! Which browser requests are allowed. A foreign web page must not reach the gateway, neither from
//! its own origin nor through DNS rebinding.

use std::net::IpAddr;

use ::http::header::{HOST, ORIGIN};
use ::http::request::Parts;
use ::http::uri::Authority;
use ::http::{HeaderName, HeaderValue, Version};
use tidegate_core::{Code, Error, Result};

use super::HttpConfig;
use super::accept::single_header;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The hosts and origins that are allowed.
pub(super) struct OriginPolicy {
    loopback: bool,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
}

impl OriginPolicy {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self {
            loopback: config.loopback,
            allowed_hosts: lower(&config.allowed_hosts),
            allowed_origins: lower(&config.allowed_origins),
        }
    }

    /// Checks a request. Returns its origin if it comes from an allowed foreign page.
    pub(super) fn check(&self, parts: &Parts) -> Result<Option<HeaderValue>> {
        let authority = authority(parts)?;
        let host = host_of(&authority)?;
        if !self.is_allowed_host(host, &authority) {
            return Err(forbidden(format!(
                "host `{host}` is not allowed; add it to `allowed_hosts` if it is this gateway"
            )));
        }
        let Some(origin) = single_header(&parts.headers, &ORIGIN)? else {
            return check_fetch_site(parts).map(|()| None);
        };
        let origin = origin.to_ascii_lowercase();
        if self.allowed_origins.contains(&origin) {
            return Ok(parts.headers.get(ORIGIN).cloned());
        }
        if is_same_origin(&origin, &authority) {
            return check_fetch_site(parts).map(|()| None);
        }
        Err(forbidden(match origin.as_str() {
            "null" => "requests from an opaque origin (`Origin: null`) are not allowed".to_owned(),
            _ => format!("origin `{origin}` is not allowed; add it to `allowed_origins`"),
        }))
    }

    /// A configured host without a port allows any port.
    fn is_allowed_host(&self, host: &str, authority: &str) -> bool {
        let is_configured = || {
            let mut hosts = self.allowed_hosts.iter();
            hosts.any(|allowed| allowed == host || allowed == authority)
        };
        let address = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>();
        match address {
            // DNS rebinding needs a name: an address is safe.
            Ok(address) => address.is_loopback() || !self.loopback || is_configured(),
            Err(_) => host == "localhost" || is_configured(),
        }
    }
}

/// Browsers send this header even where they send no origin.
fn check_fetch_site(parts: &Parts) -> Result<()> {
    match single_header(&parts.headers, &SEC_FETCH_SITE)? {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) => Err(forbidden("cross-site requests are not allowed".to_owned())),
    }
}

/// The host and port of the request, which must be unambiguous.
fn authority(parts: &Parts) -> Result<String> {
    let target = parts.uri.authority().map(Authority::as_str);
    let header = single_header(&parts.headers, &HOST)?;
    let authority = match (target, header) {
        (Some(target), Some(header)) if !target.eq_ignore_ascii_case(header) => {
            return Err(invalid_host(
                "the request line and the header `Host` differ",
            ));
        }
        (Some(authority), _) | (None, Some(authority)) => authority,
        (None, None) if parts.version == Version::HTTP_10 => "localhost",
        (None, None) => return Err(invalid_host("the header `Host` is missing")),
    };
    Ok(authority.to_ascii_lowercase())
}

/// The host without its port.
fn host_of(authority: &str) -> Result<&str> {
    let end = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_valid_port = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_valid_host = !host.is_empty()
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
    if is_valid_port && is_valid_host {
        Ok(host)
    } else {
        Err(invalid_host("the host of the request is invalid"))
    }
}

/// Whether a page was served by the host that it calls.
fn is_same_origin(origin: &str, authority: &str) -> bool {
    let matches = |scheme: &str, default_port: &str| {
        origin.strip_prefix(scheme).is_some_and(|page_host| {
            let with_port = |host: &str| match host_of(host) {
                Ok(name) if name.len() == host.len() => format!("{host}{default_port}"),
                _ => host.to_owned(),
            };
            with_port(page_host) == with_port(authority)
        })
    };
    matches("http://", ":80") || matches("https://", ":443")
}

fn invalid_host(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

fn forbidden(message: String) -> Error {
    Error::client(Code::ForeignOrigin, message)
}

#[cfg(test)]
mod tests {
    use ::http::Request;

    use super::*;

    fn check(config: &HttpConfig, headers: &[(&str, &str)]) -> Result<Option<HeaderValue>> {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        OriginPolicy::new(config).check(&parts)
    }

    fn local() -> HttpConfig {
        HttpConfig {
            loopback: true,
            allowed_hosts: vec!["gate.example".into()],
            allowed_origins: vec!["https://app.example".into()],
            ..HttpConfig::default()
        }
    }

    /// T1.
    #[test]
    fn allows_own_hosts_and_own_or_configured_origins() {
        for headers in [
            &[("host", "localhost:8080")][..],
            &[("host", "127.0.0.1:8080")],
            &[("host", "127.0.0.1")],
            &[("host", "[::1]:8080")],
            &[("host", "LOCALHOST:8080")],
            &[("host", "gate.example")],
            &[
                ("host", "localhost:8080"),
                ("origin", "http://localhost:8080"),
            ],
            &[("host", "gate.example"), ("origin", "https://gate.example")],
            &[
                ("host", "gate.example"),
                ("origin", "https://gate.example:443"),
            ],
            &[("host", "localhost"), ("origin", "http://localhost:80")],
            &[
                ("host", "localhost:8080"),
                ("sec-fetch-site", "same-origin"),
            ],
            &[
                ("host", "localhost:8080"),
                ("origin", "https://app.example"),
                ("sec-fetch-site", "cross-site"),
            ],
        ] {
            assert!(check(&local(), headers).is_ok(), "{headers:?}");
        }
    }

    #[test]
    fn rejects_foreign_hosts_and_origins() {
        for headers in [
            &[("host", "evil.example")][..],
            &[("host", "evil.example:8080")],
            &[("host", "192.168.1.7:8080")],
            &[("host", "localhost.evil.example")],
            &[("host", "localhost:8080/x")],
            &[("host", "localhost:8080?")],
            &[("host", "a@localhost")],
            &[("host", "localhost:80a")],
            &[("host", "")],
            &[("host", "localhost"), ("host", "localhost")],
            &[],
            &[
                ("host", "localhost:8080"),
                ("origin", "http://evil.example"),
            ],
            &[("host", "localhost:8080"), ("origin", "null")],
            &[
                ("host", "localhost:8080"),
                ("origin", "http://localhost:3000"),
            ],
            &[("host", "localhost:8080"), ("origin", "http://app.example")],
            &[("host", "localhost:8080"), ("sec-fetch-site", "cross-site")],
            &[("host", "localhost:8080"), ("sec-fetch-site", "same-site")],
        ] {
            assert!(check(&local(), headers).is_err(), "{headers:?}");
        }
    }

    #[test]
    fn off_loopback_allows_any_address_but_only_configured_names() {
        let public = HttpConfig {
            loopback: false,
            ..local()
        };
        assert!(check(&public, &[("host", "10.0.0.7:8080")]).is_ok());
        assert!(check(&public, &[("host", "evil.example")]).is_err());
    }
}
