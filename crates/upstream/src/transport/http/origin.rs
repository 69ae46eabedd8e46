//! What a server may name as an address of its own: another path, never another server.

use http::Uri;
use http::uri::{Parts, PathAndQuery};

/// The address that `reference` means to a reader of `base`, or the origin it leads to if that is
/// another one.
pub(crate) fn within(base: &Uri, reference: &str) -> Result<Uri, String> {
    let path = match reference.parse::<Uri>() {
        Ok(whole) if whole.scheme().is_some() => match of(&whole) == of(base) {
            true => whole.path_and_query().cloned(),
            false => return Err(of(&whole)),
        },
        _ if reference.starts_with("//") => return Err("another server".to_owned()),
        _ if reference.starts_with('/') => reference.parse().ok(),
        _ if is_relative(reference) => relative(base, reference),
        _ => None,
    };
    let mut parts = Parts::default();
    parts.scheme = base.scheme().cloned();
    parts.authority = base.authority().cloned();
    parts.path_and_query = path;
    Uri::from_parts(parts).map_err(|_| "no address at all".to_owned())
}

fn is_relative(reference: &str) -> bool {
    let first = reference.split(['/', '?']).next().unwrap_or_default();
    !reference.is_empty() && !first.contains(':')
}

/// Seen from the folder of `base`, or from `base` itself where only the query is another.
fn relative(base: &Uri, reference: &str) -> Option<PathAndQuery> {
    let path = base.path();
    let folder = match reference.starts_with('?') {
        true => path,
        false => &path[..=path.rfind('/')?],
    };
    format!("{folder}{reference}").parse().ok()
}

/// Scheme, host and port: nothing that may be a secret.
fn of(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or_default();
    let host = url.host().unwrap_or_default().to_ascii_lowercase();
    let usual = if scheme == "https" { 443 } else { 80 };
    match url.port_u16().filter(|port| *port != usual) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_server_names_other_paths_of_its_own() {
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
            assert_eq!(within(&base, reference).unwrap(), expected, "{reference}");
        }
    }

    #[test]
    fn and_no_other_server() {
        for (reference, origin) in [
            ("https://b.example/mcp", "https://b.example"),
            ("http://a.example/v1/mcp", "http://a.example"),
            ("https://a.example:8443/", "https://a.example:8443"),
            ("https://key:secret@b.example/?token=1", "https://b.example"),
            ("//b.example/mcp", "another server"),
            (
                "https://a.example.b.example/",
                "https://a.example.b.example",
            ),
            ("javascript:alert(1)", "no address at all"),
            ("", "no address at all"),
        ] {
            let base = "https://a.example/v1/mcp".parse().unwrap();
            assert_eq!(within(&base, reference).unwrap_err(), origin, "{reference}");
        }
    }
}
