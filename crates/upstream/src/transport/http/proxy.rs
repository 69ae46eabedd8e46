//! The proxies that the environment names, and which server is reached through which.
//!
//! Reads no variable by itself: whoever puts the gateway together hands them in.

use std::net::IpAddr;

use http::header::HeaderValue;
use http::uri::{Scheme, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

/// Which variables name the proxy for a scheme, the first that is set wins.
const FOR_HTTP: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const FOR_HTTPS: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const EXEMPT: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Set where a web server runs a program, and with it a header of the request may set
/// `HTTP_PROXY`.
const CGI: &str = "REQUEST_METHOD";

/// The proxies of the environment.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Named>,
    https: Option<Named>,
    /// The servers that are reached without one.
    exempt: Vec<String>,
}

#[derive(Clone, Debug)]
struct Named {
    variable: &'static str,
    /// None if the variable names none that we can use.
    proxy: Option<Proxy>,
}

/// A proxy. Its credentials are never shown.
#[derive(Clone, Debug)]
pub struct Proxy(Intercept);

/// A variable is set, but not to a proxy that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusableProxy(pub &'static str);

/// How a server is reached through a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The proxy is given each request and passes it on.
    Forward,
    /// The proxy is asked for a connection to the server, over HTTP.
    Tunnel,
    /// The same over SOCKS.
    Socks,
}

impl Proxies {
    /// Those that these variables name.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_cgi = variable(CGI).is_some();
        let named = |names: [&'static str; 4]| {
            let mut names = names
                .iter()
                .filter(|name| !(is_cgi && **name == "HTTP_PROXY"));
            let (variable, value) = names.find_map(|name| Some((*name, variable(name)?)))?;
            let proxy = Proxy::parse(&value);
            Some(Named { variable, proxy })
        };
        let exempt = EXEMPT.into_iter().find_map(&variable).unwrap_or_default();
        let entries = exempt.split([',', ' ']).map(str::trim);
        Self {
            http: named(FOR_HTTP),
            https: named(FOR_HTTPS),
            exempt: entries
                .filter(|entry| !entry.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The proxy on the way to this server, if there is to be one.
    pub fn on_the_way_to(&self, url: &Uri) -> Result<Option<Proxy>, UnusableProxy> {
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

    /// Whether the environment says to leave this server be.
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

/// An entry as it applies to a port; none if it is about another. `*.name` is `.name`.
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
    let usual = if url.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    };
    url.port_u16().unwrap_or(usual)
}

/// Whether a server is on this machine, where no proxy can know it.
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

    pub(super) fn way(&self, url: &Uri) -> Way {
        match self.is_socks() {
            true => Way::Socks,
            false if url.scheme() == Some(&Scheme::HTTPS) => Way::Tunnel,
            false => Way::Forward,
        }
    }

    /// Its own address. Without a port SOCKS means 1080.
    pub(super) fn address(&self) -> Uri {
        let address = self.0.uri();
        match (self.is_socks() && address.port().is_none(), address.host()) {
            (true, Some(host)) => format!("socks5://{host}:1080/")
                .parse()
                .unwrap_or_else(|_| address.clone()),
            _ => address.clone(),
        }
    }

    /// What it wants to be shown with a request for a tunnel.
    pub(super) fn credentials(&self) -> Option<HeaderValue> {
        self.0.basic_auth().cloned()
    }

    /// What it wants to be shown over SOCKS.
    pub(super) fn name_and_password(&self) -> Option<(&str, &str)> {
        self.0.raw_auth()
    }

    /// What it wants to be shown with each request to this server, if it is the one to read them.
    pub(super) fn reads_requests(&self, url: &Uri) -> Option<HeaderValue> {
        let forwards = self.way(url) == Way::Forward;
        forwards.then(|| self.credentials()).flatten()
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
