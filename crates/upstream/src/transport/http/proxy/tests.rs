//! Which server is reached through which proxy.

use http::Uri;

use super::{Proxies, UnusableProxy, Way};

const PROXY: &str = "http://proxy.example:3128";

fn proxies(variables: &[(&str, &str)]) -> Proxies {
    Proxies::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// The proxy for an address, as `host:port`; empty if there is none.
fn way(variables: &[(&str, &str)], url: &str) -> String {
    let url: Uri = url.parse().unwrap();
    let proxy = proxies(variables).on_the_way_to(&url).unwrap();
    proxy.map_or_else(String::new, |proxy| {
        let address = proxy.address();
        address.authority().unwrap().to_string()
    })
}

#[test]
fn each_scheme_has_its_variable_and_one_is_for_all() {
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
        // The header `Proxy` of a request sets it where a web server runs us.
        (&[("HTTP_PROXY", "p:1"), ("REQUEST_METHOD", "GET")], "", ""),
        (
            &[("http_proxy", "p:1"), ("REQUEST_METHOD", "GET")],
            "p:1",
            "",
        ),
        (&[("ALL_PROXY", "socks5://p")], "p:1080", "p:1080"),
    ] {
        assert_eq!(way(variables, http), for_http, "{variables:?}");
        assert_eq!(way(variables, https), for_https, "{variables:?}");
    }
}

#[test]
fn some_servers_are_left_be() {
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
            let found = way(&[("http_proxy", PROXY), (name, exempt)], url);
            assert_eq!(found.is_empty(), is_exempt, "{exempt} {url}");
        }
    }
}

/// No proxy can know a server of this machine, and none needs to know of it.
#[test]
fn what_is_on_this_machine_goes_through_none() {
    for host in [
        "localhost",
        "x.localhost",
        "127.0.0.1",
        "127.8.8.8",
        "[::1]",
        "LOCALHOST",
    ] {
        let url = format!("http://{host}:8080/mcp");
        assert_eq!(way(&[("all_proxy", PROXY)], &url), "", "{host}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_told_by_its_variable() {
    for value in ["socks4://p:1", "ftp://p:1", "http://", "::", "http://a b"] {
        let proxies = proxies(&[("ALL_PROXY", value), ("NO_PROXY", "b.example")]);
        let way = |url: &str| proxies.on_the_way_to(&url.parse().unwrap());
        let told = way("http://a.example/").unwrap_err();
        assert_eq!(told, UnusableProxy("ALL_PROXY"), "{value}");
        assert!(way("http://b.example/").unwrap().is_none(), "{value}");
    }
}

#[test]
fn credentials_are_used_and_never_shown() {
    let variables = [
        ("http_proxy", "http://ada:p%40ss@p:1"),
        ("https_proxy", "socks5h://ada:p%40ss@p:1"),
    ];
    let proxies = proxies(&variables);
    let way = |url: &str| {
        proxies
            .on_the_way_to(&url.parse().unwrap())
            .unwrap()
            .unwrap()
    };
    let (url, secure) = ("http://a.example/", "https://a.example/");
    let (http, socks) = (way(url), way(secure));
    assert_eq!(http.way(&url.parse().unwrap()), Way::Forward);
    assert_eq!(http.way(&secure.parse().unwrap()), Way::Tunnel);
    assert_eq!(http.credentials().unwrap(), "Basic YWRhOnBAc3M=");
    assert_eq!(socks.way(&url.parse().unwrap()), Way::Socks);
    assert_eq!(socks.name_and_password(), Some(("ada", "p@ss")));
    let shown = format!("{proxies:?} {http:?} {socks:?} {:?}", http.credentials());
    for secret in ["p%40ss", "p@ss", "YWRhOn"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
