//! Hosts, origins and the public URL: which values of the `Host` and `Origin` headers are accepted.
//! Must not know any request.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What a public URL looks like, as a regular expression.
pub(crate) const PUBLIC_URL_PATTERN: &str =
    r"^[hH][tT][tT][pP][sS]?://[^/?#@\\\s]+(/[^?#@\\\s]*)?$";

/// `host` or `host:port`, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) port: Option<u16>,
}

impl Host {
    /// Parses an entry of `allowed_hosts`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains('*') {
            return Err(format!(
                "`{text}` has a wildcard, which would accept any web page through a name of its own; \
                 list each host"
            ));
        }
        if let Some((_, rest)) = text.split_once("://") {
            let host = rest.split('/').next().unwrap_or(rest);
            return Err(format!("`{text}` is a URL; write only its host: `{host}`"));
        }
        Self::split(text).ok_or_else(|| {
            format!("`{text}` is not a host; write `example.com` or `example.com:8443`")
        })
    }

    fn split(text: &str) -> Option<Self> {
        let colon = text
            .rfind(':')
            .filter(|colon| !text[*colon..].contains(']'));
        let (name, port) = match colon {
            Some(colon) => (&text[..colon], Some(text[colon + 1..].parse().ok()?)),
            None => (text, None),
        };
        is_host_name(name).then(|| Self {
            name: name.to_ascii_lowercase(),
            port,
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// An IPv4 address, an IPv6 address in brackets, or a DNS name.
fn is_host_name(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('[') {
        return inner
            .strip_suffix(']')
            .is_some_and(|ip| ip.parse::<Ipv6Addr>().is_ok());
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let numeric = name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    name.len() <= 253
        && name.split('.').all(label)
        && (!numeric || name.parse::<Ipv4Addr>().is_ok())
}

/// Parses an entry of `allowed_origins` into the form that browsers send: lower case, no default
/// port.
pub(crate) fn parse_origin(text: &str) -> Result<String, String> {
    let invalid = |why: &str| Err(format!("`{text}` {why}; write `https://example.com`"));
    if text.contains('*') {
        return invalid("has a wildcard, which would accept any web page");
    }
    if text == "null" {
        return invalid("is the origin of every sandboxed page");
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return invalid("has no scheme");
    };
    if rest.contains(['/', '?', '#']) {
        return invalid("has a path, which origins do not have");
    }
    match (is_scheme(scheme), Host::split(rest)) {
        (true, Some(host)) => Ok(browser_form(&scheme.to_ascii_lowercase(), host)),
        _ => invalid("is not an origin"),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

fn browser_form(scheme: &str, host: Host) -> String {
    let default_port = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let port = host.port.filter(|port| Some(*port) != default_port);
    format!("{scheme}://{}", Host { port, ..host })
}

/// The URL at which clients reach the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    url: String,
    host: String,
}

impl PublicUrl {
    /// The URL, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Its host, without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let invalid = |why: &str| {
            Err(format!(
                "`public_url`: `{text}` {why}; write it like `https://mcp.example.com`"
            ))
        };
        let Some((scheme, rest)) = text.split_once("://") else {
            return invalid("is not a URL");
        };
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return invalid("is neither http nor https");
        }
        if rest.contains(['?', '#', '@', '\\']) || rest.contains(|c: char| !c.is_ascii_graphic()) {
            return invalid("has more than a host, a port and a path");
        }
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let Some(host) = Host::split(host) else {
            return invalid("has no valid host");
        };
        let name = host.name.clone();
        let url = format!(
            "{}{}",
            browser_form(&scheme, host),
            path.trim_end_matches('/')
        );
        Ok(Self { url, host: name })
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, PublicUrl, parse_origin};

    #[test]
    fn parses_hosts() {
        for (text, expected) in [
            ("Example.COM", Ok("example.com")),
            ("example.com:8443", Ok("example.com:8443")),
            ("10.0.0.1", Ok("10.0.0.1")),
            ("[::1]", Ok("[::1]")),
            ("[::1]:80", Ok("[::1]:80")),
            ("my_box", Ok("my_box")),
            ("*", Err("wildcard")),
            ("*.example.com", Err("wildcard")),
            (
                "https://a.example/x",
                Err("write only its host: `a.example`"),
            ),
            ("", Err("not a host")),
            ("a b", Err("not a host")),
            ("a/b", Err("not a host")),
            ("user@a", Err("not a host")),
            ("a:", Err("not a host")),
            ("a:99999", Err("not a host")),
            ("::1", Err("not a host")),
            ("256.1.1.1", Err("not a host")),
            ("a..b", Err("not a host")),
            ("bücher.example", Err("not a host")),
        ] {
            compare(
                text,
                Host::parse(text).map(|host| host.to_string()),
                expected,
            );
        }
    }

    #[test]
    fn parses_origins() {
        for (text, expected) in [
            ("https://Example.com", Ok("https://example.com")),
            ("https://example.com:443", Ok("https://example.com")),
            ("http://localhost:6274", Ok("http://localhost:6274")),
            ("vscode-webview://abc", Ok("vscode-webview://abc")),
            ("*", Err("wildcard")),
            ("null", Err("sandboxed")),
            ("example.com", Err("no scheme")),
            ("https://example.com/", Err("has a path")),
            ("https://", Err("not an origin")),
            ("1x://example.com", Err("not an origin")),
        ] {
            compare(text, parse_origin(text), expected);
        }
    }

    #[test]
    fn parses_public_urls() {
        for (text, expected) in [
            (
                "https://MCP.example.com/",
                Ok("https://mcp.example.com mcp.example.com"),
            ),
            (
                "http://10.0.0.1:8080/Team/",
                Ok("http://10.0.0.1:8080/Team 10.0.0.1"),
            ),
            ("https://a.example:443", Ok("https://a.example a.example")),
            ("mcp.example.com", Err("is not a URL")),
            ("ftp://a.example", Err("neither http nor https")),
            ("https://u:p@a.example", Err("has more than")),
            ("https://a.example/?x", Err("has more than")),
            ("https://a.example/ x", Err("has more than")),
            ("https:///x", Err("no valid host")),
        ] {
            let read = PublicUrl::parse(text);
            compare(
                text,
                read.map(|url| format!("{} {}", url.as_str(), url.host())),
                expected,
            );
        }
    }

    fn compare(text: &str, read: Result<String, String>, expected: Result<&str, &str>) {
        match (read, expected) {
            (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{text}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
            (read, expected) => panic!("{text}: {read:?} is not {expected:?}"),
        }
    }
}
