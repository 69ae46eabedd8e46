//! The form of URIs: their scheme, and what every URI of a resource must have.

/// The scheme of a URI, if it has a valid one.
pub(crate) fn scheme_of(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_valid =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_allowed);
    is_valid.then_some(scheme)
}

/// Why no resource can have this URI, if it is malformed.
pub(crate) fn malformation_of(uri: &str) -> Option<&'static str> {
    let Some(scheme) = scheme_of(uri) else {
        return Some("it does not begin with a scheme, such as `file:`");
    };
    if uri.contains(char::is_control) {
        return Some("it contains control characters");
    }
    let rest = &uri[scheme.len() + ":".len()..];
    if rest.trim_matches('/').is_empty() {
        return Some("nothing follows its scheme");
    }
    let lacks_resource = scheme.eq_ignore_ascii_case("plugin")
        && rest
            .strip_prefix("//")
            .is_none_or(|rest| !rest.contains('/'));
    lacks_resource.then_some("its form must be `plugin://{source}/{resource}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.4, S0.7.
    #[test]
    fn recognizes_malformed_uris() {
        for uri in [
            "",
            "notes",
            "/etc/passwd",
            "1a://b",
            "a b://c",
            "file:",
            "file:///",
            "file:///a\nb",
            "plugin://memory",
            "plugin:memory/stats",
        ] {
            assert!(malformation_of(uri).is_some(), "{uri:?}");
        }
        for uri in [
            "file:///a b",
            "urn:isbn:1",
            "plugin://memory/a/b",
            "plugin://memory/",
            "git+ssh://host/ä",
            "gateway://x/y",
        ] {
            assert_eq!(malformation_of(uri), None, "{uri:?}");
        }
    }
}
