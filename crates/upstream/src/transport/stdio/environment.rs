//! The environment of a server process: an allow-list of our own variables, and the variables from
//! its configuration.

use std::ffi::OsString;

/// The variables that every server process inherits. No other variable of the gateway reaches it, for
/// it may hold a secret of another server; `env` in the configuration adds more and takes precedence.
///
/// - Basics: where programs, the home folder and temporary files are, language and time zone.
/// - Proxies, which may carry credentials: a program that must go through a proxy needs them.
/// - Certificates: additional authorities, as OpenSSL, Node.js, Python and curl read them.
pub const INHERITED_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
];

/// The variables of the allow-list that are set.
pub(super) fn inherited(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, OsString)> {
    let names = INHERITED_VARIABLES.iter();
    names
        .filter_map(|name| Some((*name, variable(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_inherits_what_it_needs_to_reach_the_network() {
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            assert!(INHERITED_VARIABLES.contains(&name), "{name}");
            let lower_case = name.to_lowercase();
            assert!(INHERITED_VARIABLES.contains(&lower_case.as_str()), "{name}");
        }
        for name in [
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
        ] {
            assert!(INHERITED_VARIABLES.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_process_inherits_nothing_else() {
        let inherited = inherited(|name| match name {
            "PATH" | "https_proxy" | "GITHUB_TOKEN" => Some(name.into()),
            _ => None,
        });
        let names: Vec<_> = inherited.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["PATH", "https_proxy"]);
    }
}
