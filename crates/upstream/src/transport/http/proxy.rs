//! The proxies of the environment, and which server is reached through which.
//!
//! Reads no environment variable itself: the caller passes them in.

use std::net::IpAddr;

use http::header::HeaderValue;
use http::uri::{Scheme, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// The variables that name the proxy for a scheme. The first that is set wins.
const FOR_HTTP: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const FOR_HTTPS: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXEMPT: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Set in CGI programs, where a request header may set `HTTP_PROXY` (httpoxy).
const CGI: &str = "REQUEST_METHOD";

/// The proxies of the environment.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<ProxyVariable>,
    https: Option<ProxyVariable>,
    /// The entries of `NO_PROXY`.
    exempt: Vec<String>,
}

#[derive(Clone, Debug)]
struct ProxyVariable {
    variable: &'static str,
    /// None if its value is not a proxy URL that we support.
    proxy: Option<Proxy>,
}

/// A proxy. Its `Debug` output does not show its credentials.
#[derive(Clone, Debug)]
pub struct Proxy(Intercept);

/// A variable is set, but not to a supported proxy URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusableProxy(pub &'static str);

/// How a server is reached through a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyMode {
    /// The proxy forwards each request.
    Forward,
    /// The proxy opens a tunnel to the server (HTTP CONNECT).
    Tunnel,
    /// The proxy opens a tunnel to the server (SOCKS5).
    Socks,
}

impl Proxies {
    /// Reads the proxies from these variables.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_cgi = variable(CGI).is_some();
        let proxy_variable = |names: [&'static str; 4]| {
            let mut names = names
                .iter()
                .filter(|name| !(is_cgi && **name == "HTTP_PROXY"));
            let (variable, value) = names.find_map(|name| Some((*name, variable(name)?)))?;
            let proxy = Proxy::parse(&value);
            Some(ProxyVariable { variable, proxy })
        };
        let exempt = EXEMPT.into_iter().find_map(&variable).unwrap_or_default();
        let entries = exempt.split([',', ' ']).map(str::trim);
        Self {
            http: proxy_variable(FOR_HTTP),
            https: proxy_variable(FOR_HTTPS),
            exempt: entries
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The proxy for this server, if it is not reached directly.
    pub fn for_url(&self, url: &Uri) -> Result<Option<Proxy>, UnusableProxy> {
        let named = match url.scheme() == Some(&Scheme::HTTPS) {
            true => &self.https,
            false => &self.http,
        };
        match named {
            Some(named) if !is_loopback(url) && !self.exempts(url) => {
                let proxy = named.proxy.clone();
                proxy.map(Some).ok_or(UnusableProxy(named.variable))
            }
            _ => Ok(None),
        }
    }

    /// Whether `NO_PROXY` exempts this server.
    fn exempts(&self, url: &Uri) -> bool {
        let entries = self.exempt.iter();
        let entries = entries.filter_map(|entry| for_port(entry, port(url)));
        let entries: Vec<&str> = entries.collect();
        if entries.contains(&"*") {
            return true;
        }
        let list = entries.join(",");
        let matcher = Matcher::builder().all("http://any").no(list).build();
        matcher.intercept(url).is_none()
    }
}

/// The host part of a `NO_PROXY` entry; `None` if the entry names another port. `*.name` becomes
/// `.name`.
fn for_port(entry: &str, port: u16) -> Option<&str> {
    let entry = match entry.split_once(':') {
        Some((host, named)) if !named.contains(':') => {
            (named.parse() == Ok(port)).then_some(host)?
        }
        _ => entry.trim_start_matches('[').trim_end_matches(']'),
    };
    match entry.starts_with("*.") {
        true => Some(&entry[1..]),
        false => Some(entry),
    }
}

fn port(url: &Uri) -> u16 {
    let default_port = if url.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    };
    url.port_u16().unwrap_or(default_port)
}

/// Whether a server is on this machine, where no proxy can reach it.
fn is_loopback(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let host = host.to_ascii_lowercase();
            host == "localhost" || host.ends_with(".localhost")
        }
    }
}

impl Proxy {
    fn parse(address: &str) -> Option<Self> {
        let any = Uri::from_static("http://any");
        let found = Matcher::builder().all(address).build().intercept(&any)?;
        let known = ["http", "https", "socks5", "socks5h"];
        known
            .contains(&found.uri().scheme_str()?)
            .then_some(Self(found))
    }

    pub(super) fn mode(&self, url: &Uri) -> ProxyMode {
        match self.is_socks() {
            true => ProxyMode::Socks,
            false if url.scheme() == Some(&Scheme::HTTPS) => ProxyMode::Tunnel,
            false => ProxyMode::Forward,
        }
    }

    /// The URL of the proxy. The default port of SOCKS is 1080.
    pub(super) fn address(&self) -> Uri {
        let address = self.0.uri();
        match (self.is_socks() && address.port().is_none(), address.host()) {
            (true, Some(host)) => format!("socks5://{host}:1080/")
                .parse()
                .unwrap_or_else(|_| address.clone()),
            _ => address.clone(),
        }
    }

    /// The `Proxy-Authorization` of a CONNECT request.
    pub(super) fn basic_authorization(&self) -> Option<HeaderValue> {
        self.0.basic_auth().cloned()
    }

    /// The credentials for SOCKS.
    pub(super) fn user_and_password(&self) -> Option<(&str, &str)> {
        self.0.raw_auth()
    }

    /// The `Proxy-Authorization` of each request to this server, if the proxy forwards requests.
    pub(super) fn request_authorization(&self, url: &Uri) -> Option<HeaderValue> {
        let forwards = self.mode(url) == ProxyMode::Forward;
        forwards.then(|| self.basic_authorization()).flatten()
    }

    fn is_socks(&self) -> bool {
        self.0
            .uri()
            .scheme_str()
            .is_some_and(|scheme| scheme.starts_with("socks"))
    }
}

#[cfg(test)]
mod tests;
