//! Who may call from a browser. A web page must not reach a gateway on the same machine by naming
//! it otherwise (DNS rebinding) or from its own origin.

use std::net::IpAddr;

use ::http::header::{HOST, ORIGIN};
use ::http::request::Parts;
use ::http::uri::Authority;
use ::http::{HeaderName, HeaderValue, Version};
use tidegate_core::{Code, Error, Result};

use super::HttpConfig;
use super::accept::only;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names and origins that are ours.
pub(super) struct Origins {
    loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Origins {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let lower = |list: &[String]| list.iter().map(|one| one.to_ascii_lowercase()).collect();
        Self {
            loopback: config.loopback,
            hosts: lower(&config.allowed_hosts),
            origins: lower(&config.allowed_origins),
        }
    }

    /// Admits a request; gives the origin of the allowed page it comes from, if it comes from one.
    pub(super) fn admit(&self, parts: &Parts) -> Result<Option<HeaderValue>> {
        let authority = authority(parts)?;
        let host = host_of(&authority)?;
        if !self.is_ours(host, &authority) {
            return Err(foreign(format!(
                "the host `{host}` is not one of this gateway's; add it to `allowed_hosts` if it is"
            )));
        }
        let Some(origin) = only(&parts.headers, &ORIGIN)? else {
            return self.admit_site(parts).map(|()| None);
        };
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return Ok(parts.headers.get(ORIGIN).cloned());
        }
        if is_same(&origin, &authority) {
            return self.admit_site(parts).map(|()| None);
        }
        Err(foreign(match origin.as_str() {
            "null" => "pages that do not say where they are from may not call".to_owned(),
            _ => {
                format!("pages of `{origin}` may not call; add it to `allowed_origins` if they may")
            }
        }))
    }

    /// A configured host may name its port or leave it open.
    fn is_ours(&self, host: &str, authority: &str) -> bool {
        let configured = || self.hosts.iter().any(|one| one == host || one == authority);
        let address = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>();
        match address {
            // A name can be made to point here; a number cannot.
            Ok(address) => address.is_loopback() || !self.loopback || configured(),
            Err(_) => host == "localhost" || configured(),
        }
    }

    /// A browser says from where a request comes even where it sends no origin.
    fn admit_site(&self, parts: &Parts) -> Result<()> {
        match only(&parts.headers, &SEC_FETCH_SITE)? {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(foreign("the request comes from another site".to_owned())),
        }
    }
}

/// The host and port a request is for, said once and in one way.
fn authority(parts: &Parts) -> Result<String> {
    let target = parts.uri.authority().map(Authority::as_str);
    let header = only(&parts.headers, &HOST)?;
    let named = match (target, header) {
        (Some(target), Some(header)) if !target.eq_ignore_ascii_case(header) => {
            return Err(bad_host("the request names two hosts"));
        }
        (Some(named), _) | (None, Some(named)) => named,
        (None, None) if parts.version == Version::HTTP_10 => "localhost",
        (None, None) => return Err(bad_host("the header `Host` is missing")),
    };
    Ok(named.to_ascii_lowercase())
}

/// The host without its port.
fn host_of(authority: &str) -> Result<&str> {
    let end = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let port_is_well = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let host_is_well = !host.is_empty()
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
    if port_is_well && host_is_well {
        Ok(host)
    } else {
        Err(bad_host("the host is not a host"))
    }
}

/// Whether a page was served by the host it calls.
fn is_same(origin: &str, authority: &str) -> bool {
    let same = |scheme: &str, default_port: &str| {
        origin.strip_prefix(scheme).is_some_and(|served_by| {
            let with_port = |host: &str| match host_of(host) {
                Ok(name) if name.len() == host.len() => format!("{host}{default_port}"),
                _ => host.to_owned(),
            };
            with_port(served_by) == with_port(authority)
        })
    };
    same("http://", ":80") || same("https://", ":443")
}

fn bad_host(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

fn foreign(message: String) -> Error {
    Error::client(Code::ForeignOrigin, message)
}

#[cfg(test)]
mod tests {
    use ::http::Request;

    use super::*;

    fn admit(config: &HttpConfig, headers: &[(&str, &str)]) -> Result<Option<HeaderValue>> {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Origins::new(config).admit(&request.body(()).unwrap().into_parts().0)
    }

    fn local() -> HttpConfig {
        HttpConfig {
            loopback: true,
            allowed_hosts: vec!["gate.example".into()],
            allowed_origins: vec!["https://app.example".into()],
            legacy_sse: false,
            metrics: None,
        }
    }

    /// T1: on loopback, nothing but our own names, and no page but our own and the allowed.
    #[test]
    fn what_names_us_and_comes_from_here_is_admitted() {
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
            assert!(admit(&local(), headers).is_ok(), "{headers:?}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
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
            assert!(admit(&local(), headers).is_err(), "{headers:?}");
        }
    }

    #[test]
    fn off_loopback_any_address_is_ours_and_a_name_only_if_configured() {
        let public = HttpConfig {
            loopback: false,
            ..local()
        };
        assert!(admit(&public, &[("host", "10.0.0.7:8080")]).is_ok());
        assert!(admit(&public, &[("host", "evil.example")]).is_err());
    }
}
