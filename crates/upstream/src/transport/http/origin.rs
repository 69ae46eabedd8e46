//! Resolves addresses that a server names: another path of its own origin, never another origin.

use http::Uri;
use http::uri::{Parts, PathAndQuery};

/// Resolves `reference` against `base`. The error is the foreign origin it refers to.
pub(crate) fn resolve_same_origin(base: &Uri, reference: &str) -> Result<Uri, String> {
    let path = match reference.parse::<Uri>() {
        Ok(absolute) if absolute.scheme().is_some() => match origin(&absolute) == origin(base) {
            true => absolute.path_and_query().cloned(),
            false => return Err(origin(&absolute)),
        },
        _ if reference.starts_with("//") => return Err("another host".to_owned()),
        _ if reference.starts_with('/') => reference.parse().ok(),
        _ if is_relative(reference) => relative(base, reference),
        _ => None,
    };
    let mut parts = Parts::default();
    parts.scheme = base.scheme().cloned();
    parts.authority = base.authority().cloned();
    parts.path_and_query = path;
    Uri::from_parts(parts).map_err(|_| "an invalid address".to_owned())
}

fn is_relative(reference: &str) -> bool {
    let first = reference.split(['/', '?']).next().unwrap_or_default();
    !reference.is_empty() && !first.contains(':')
}

/// Relative to the folder of `base`, or to `base` itself where only the query differs.
fn relative(base: &Uri, reference: &str) -> Option<PathAndQuery> {
    let path = base.path();
    let folder = match reference.starts_with('?') {
        true => path,
        false => &path[..=path.rfind('/')?],
    };
    format!("{folder}{reference}").parse().ok()
}

/// Scheme, host and port, which are never secret.
pub(super) fn origin(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or_default();
    let host = url.host().unwrap_or_default().to_ascii_lowercase();
    let default_port = if scheme == "https" { 443 } else { 80 };
    match url.port_u16().filter(|port| *port != default_port) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::resolve_same_origin;

    #[test]
    fn resolves_addresses_of_the_same_origin() {
        for (reference, expected) in [
            ("/other", "https://a.example/other"),
            ("/other?x=1", "https://a.example/other?x=1"),
            ("other", "https://a.example/v1/other"),
            ("?session=1", "https://a.example/v1/mcp?session=1"),
            ("https://a.example/other", "https://a.example/other"),
            ("https://A.EXAMPLE:443/other", "https://a.example/other"),
            ("https://eve@a.example/other", "https://a.example/other"),
        ] {
            let base = "https://a.example/v1/mcp".parse().unwrap();
            assert_eq!(
                resolve_same_origin(&base, reference).unwrap(),
                expected,
                "{reference}"
            );
        }
    }

    #[test]
    fn rejects_addresses_of_other_origins() {
        for (reference, origin) in [
            ("https://b.example/mcp", "https://b.example"),
            ("http://a.example/v1/mcp", "http://a.example"),
            ("https://a.example:8443/", "https://a.example:8443"),
            ("https://key:secret@b.example/?token=1", "https://b.example"),
            ("//b.example/mcp", "another host"),
            (
                "https://a.example.b.example/",
                "https://a.example.b.example",
            ),
            ("javascript:alert(1)", "an invalid address"),
            ("", "an invalid address"),
        ] {
            let base = "https://a.example/v1/mcp".parse().unwrap();
            assert_eq!(
                resolve_same_origin(&base, reference).unwrap_err(),
                origin,
                "{reference}"
            );
        }
    }
}
