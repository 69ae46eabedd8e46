//! The address to listen on, and whether it is safe to.
//!
//! Opens no socket and looks no name up.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// This machine alone.
pub(crate) const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Reads `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let local = text
        .strip_prefix("localhost:")
        .and_then(|port| port.parse().ok());
    match local {
        Some(port) => Ok(SocketAddr::new(DEFAULT.ip(), port)),
        None => Err(explain(text)),
    }
}

/// What is wrong with a text that is not an address, and what was probably meant.
fn explain(text: &str) -> String {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return format!(
            "`{text}` does not say which address; write `127.0.0.1:{port}` for this machine \
             alone or `0.0.0.0:{port}` for every network"
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
        "`{text}` is not an address; write an IP address and a port such as `{DEFAULT}` (names \
         other than `localhost` are not looked up)"
    )
}

/// Whether only this machine can reach the address.
pub(crate) fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Why an address that others can reach is refused without keys, and the ways out.
pub(crate) fn open_to_all(address: SocketAddr) -> String {
    format!(
        "anyone who reaches {address} could use this gateway; name keys under `auth.keys`, or \
         start with --insecure if the network keeps others out"
    )
}
