//! The address to listen on, and who can reach it. Opens no socket and resolves no names.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reachable from this machine only.
pub(crate) const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Parses `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let local = text
        .strip_prefix("localhost:")
        .and_then(|port| port.parse().ok());
    match local {
        Some(port) => Ok(SocketAddr::new(DEFAULT.ip(), port)),
        None => Err(describe_problem(text)),
    }
}

/// The problem with the text, and the probable intention.
fn describe_problem(text: &str) -> String {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return format!(
            "`{text}` has no address; write `127.0.0.1:{port}` for this machine only, or \
             `0.0.0.0:{port}` for all networks"
        );
    }
    if let Ok(ip) = text.parse::<IpAddr>() {
        return format!(
            "`{text}` has no port; write `{}`",
            SocketAddr::new(ip, DEFAULT.port())
        );
    }
    if text == "localhost" {
        return format!("`{text}` has no port; write `localhost:{}`", DEFAULT.port());
    }
    if text.contains("://") {
        return format!(
            "`{text}` is a URL; write an address and a port such as `{DEFAULT}` (the URL that \
             clients use is `public_url`)"
        );
    }
    format!(
        "`{text}` is not an address; write an IP address and a port such as `{DEFAULT}` (host \
         names other than `localhost` are not resolved)"
    )
}

/// Whether only this machine can reach the address.
pub(crate) fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The message for an address that other machines can reach without authentication.
pub(crate) fn needs_auth(address: SocketAddr) -> String {
    format!(
        "other machines can reach {address} without authentication; add keys to `auth.keys`, or \
         start with --insecure if the network itself is protected"
    )
}
