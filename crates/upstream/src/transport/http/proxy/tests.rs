//! Which server is reached through which proxy.

use http::Uri;

use super::{Proxies, ProxyMode, UnusableProxy};

const PROXY: &str = "http://proxy.example:3128";

fn proxies(variables: &[(&str, &str)]) -> Proxies {
    Proxies::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// The proxy for a URL, as `host:port`; empty if there is none.
fn proxy_for(variables: &[(&str, &str)], url: &str) -> String {
    let url: Uri = url.parse().unwrap();
    let proxy = proxies(variables).for_url(&url).unwrap();
    proxy.map_or_else(String::new, |proxy| {
        let address = proxy.address();
        address.authority().unwrap().to_string()
    })
}

#[test]
fn each_scheme_has_its_variable_and_all_proxy_is_the_fallback() {
    let (http, https) = ("http://a.example/mcp", "https://a.example/mcp");
    for (variables, for_http, for_https) in [
        (&[][..], "", ""),
        (&[("http_proxy", "p:1")], "p:1", ""),
        (&[("HTTP_PROXY", "p:1")], "p:1", ""),
        (&[("https_proxy", "http://p:1")], "", "p:1"),
        (&[("HTTPS_PROXY", "http://p:1/")], "", "p:1"),
        (&[("all_proxy", "p:1")], "p:1", "p:1"),
        (&[("ALL_PROXY", "p:1"), ("HTTP_PROXY", "q:2")], "q:2", "p:1"),
        (&[("http_proxy", "p:1"), ("HTTP_PROXY", "q:2")], "p:1", ""),
        // In a CGI program the request header `Proxy` sets it.
        (&[("HTTP_PROXY", "p:1"), ("REQUEST_METHOD", "GET")], "", ""),
        (
            &[("http_proxy", "p:1"), ("REQUEST_METHOD", "GET")],
            "p:1",
            "",
        ),
        (&[("ALL_PROXY", "socks5://p")], "p:1080", "p:1080"),
    ] {
        assert_eq!(proxy_for(variables, http), for_http, "{variables:?}");
        assert_eq!(proxy_for(variables, https), for_https, "{variables:?}");
    }
}

#[test]
fn no_proxy_exempts_servers() {
    for (exempt, url, is_exempt) in [
        ("", "http://a.example/", false),
        ("a.example", "http://a.example/", true),
        ("a.example", "http://A.Example/", true),
        ("a.example", "http://b.a.example/", true),
        ("a.example", "http://ba.example/", false),
        (".a.example", "http://b.a.example/", true),
        ("*.a.example", "http://b.a.example/", true),
        ("*.a.example", "http://ba.example/", false),
        ("b.example, a.example", "http://a.example/", true),
        ("b.example a.example", "http://a.example/", true),
        ("a.example:8080", "http://a.example:8080/", true),
        ("a.example:8080", "http://a.example/", false),
        ("a.example:80", "http://a.example/", true),
        ("10.1.2.3", "http://10.1.2.3/", true),
        ("10.1.2.3:8080", "http://10.1.2.3/", false),
        ("10.0.0.0/8", "http://10.1.2.3:8080/", true),
        ("10.0.0.0/8", "http://11.1.2.3/", false),
        ("fd00::/8", "http://[fd00::1]/", true),
        ("[fd00::1]", "http://[fd00::1]/", true),
        ("*", "http://a.example/", true),
        ("*", "http://11.1.2.3/", true),
    ] {
        for name in ["NO_PROXY", "no_proxy"] {
            let proxy = proxy_for(&[("http_proxy", PROXY), (name, exempt)], url);
            assert_eq!(proxy.is_empty(), is_exempt, "{exempt} {url}");
        }
    }
}

/// A proxy cannot reach a server of this machine, and need not know of it.
#[test]
fn loopback_servers_are_reached_directly() {
    for host in [
        "localhost",
        "x.localhost",
        "127.0.0.1",
        "127.8.8.8",
        "[::1]",
        "LOCALHOST",
    ] {
        let url = format!("http://{host}:8080/mcp");
        assert_eq!(proxy_for(&[("all_proxy", PROXY)], &url), "", "{host}");
    }
}

#[test]
fn an_unsupported_proxy_is_reported_by_its_variable() {
    for value in ["socks4://p:1", "ftp://p:1", "http://", "::", "http://a b"] {
        let proxies = proxies(&[("ALL_PROXY", value), ("NO_PROXY", "b.example")]);
        let for_url = |url: &str| proxies.for_url(&url.parse().unwrap());
        let error = for_url("http://a.example/").unwrap_err();
        assert_eq!(error, UnusableProxy("ALL_PROXY"), "{value}");
        assert!(for_url("http://b.example/").unwrap().is_none(), "{value}");
    }
}

#[test]
fn credentials_are_used_but_not_shown() {
    let variables = [
        ("http_proxy", "http://ada:p%40ss@p:1"),
        ("https_proxy", "socks5h://ada:p%40ss@p:1"),
    ];
    let proxies = proxies(&variables);
    let for_url = |url: &str| proxies.for_url(&url.parse().unwrap()).unwrap().unwrap();
    let (url, secure) = ("http://a.example/", "https://a.example/");
    let (http, socks) = (for_url(url), for_url(secure));
    assert_eq!(http.mode(&url.parse().unwrap()), ProxyMode::Forward);
    assert_eq!(http.mode(&secure.parse().unwrap()), ProxyMode::Tunnel);
    assert_eq!(http.basic_authorization().unwrap(), "Basic YWRhOnBAc3M=");
    assert_eq!(socks.mode(&url.parse().unwrap()), ProxyMode::Socks);
    assert_eq!(socks.user_and_password(), Some(("ada", "p@ss")));
    let shown = format!(
        "{proxies:?} {http:?} {socks:?} {:?}",
        http.basic_authorization()
    );
    for secret in ["p%40ss", "p@ss", "YWRhOn"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
