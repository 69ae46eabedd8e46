//! Servers that are reached through proxies.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::intermediaries::{
    CertificateAuthority, HttpProxy, ProxyRequest, SocksProxy, TlsTerminator,
};

use super::{Nearby, gateway, why, works};
use crate::support::{Home, Running, Server};

const PASSWORD: &str = "p4ssw0rd";
/// `ada:p4ssw0rd`, as it is shown to proxies.
const SHOWN: &str = "YWRhOnA0c3N3MHJk";

/// Ends the gateway and checks that it kept the secret to itself, in its log too.
#[track_caller]
fn stop_discreetly(server: Server) {
    let log = server.stop().stderr;
    assert!(!log.contains(PASSWORD) && !log.contains(SHOWN), "{log}");
}

#[test]
fn requests_are_handed_to_a_proxy_whole() {
    let nearby = Nearby::new();
    let fixture = nearby.fixture(Fixture::modern());
    let proxy = nearby.start(HttpProxy::forwarding_to(fixture.address()));
    let named = format!("http://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "http://server.test/mcp" });
    let server = gateway(&source, &[], &[("http_proxy", &named)]);
    works(&server);
    let asked = proxy.requests();
    assert!(!asked.is_empty());
    let expected = ProxyRequest {
        method: "POST".to_owned(),
        target: "http://server.test/mcp".to_owned(),
        credential: Some(format!("Basic {SHOWN}")),
    };
    assert!(asked.iter().all(|one| *one == expected), "{asked:?}");
    let heard = fixture.received();
    assert!(
        heard
            .iter()
            .all(|one| one.header("host") == Some("server.test"))
    );
    stop_discreetly(server);
}

/// The proxy opens a way and sees nothing of what goes over it.
#[test]
fn an_encrypted_connection_goes_through_a_proxy_unopened() {
    let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
    let fixture = nearby.fixture(Fixture::legacy("2025-11-25"));
    let identity = authority.issue("server.test");
    let protocols = &["h2", "http/1.1"];
    let front = nearby.start(TlsTerminator::start(fixture.address(), identity, protocols));
    let proxy = nearby.start(HttpProxy::forwarding_to(front.address()));
    let named = format!("http://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "https://server.test/mcp", "ca": "authority.pem" });
    let files = [("authority.pem", authority.pem())];
    let server = gateway(&source, &files, &[("HTTPS_PROXY", &named)]);
    works(&server);
    let expected = ProxyRequest {
        method: "CONNECT".to_owned(),
        target: "server.test:443".to_owned(),
        credential: Some(format!("Basic {SHOWN}")),
    };
    assert_eq!(proxy.requests(), [expected]);
    let heard = fixture.received();
    let shown = heard
        .iter()
        .find_map(|one| one.header("proxy-authorization"));
    assert_eq!(shown, None, "what is for the proxy reached the server");
    stop_discreetly(server);
}

#[test]
fn a_proxy_may_speak_socks() {
    let nearby = Nearby::new();
    let fixture = nearby.fixture(Fixture::modern());
    let proxy = nearby.start(SocksProxy::forwarding_to(fixture.address()));
    let named = format!("socks5://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "http://server.test:8000/mcp" });
    let server = gateway(&source, &[], &[("ALL_PROXY", &named)]);
    works(&server);
    let asked = proxy.requests();
    assert_eq!(asked[0], format!("ada:{PASSWORD} server.test:8000"));
    stop_discreetly(server);
}

#[test]
fn a_server_on_this_machine_is_reached_without_a_proxy() {
    let nearby = Nearby::new();
    let fixture = nearby.fixture(Fixture::modern());
    let proxy = nearby.start(HttpProxy::forwarding_to(fixture.address()));
    let named = format!("http://{}", proxy.address());
    let source = json!({ "url": fixture.url() });
    let server = gateway(
        &source,
        &[],
        &[("http_proxy", &named), ("ALL_PROXY", &named)],
    );
    works(&server);
    assert_eq!(proxy.requests(), []);
    server.stop();
}

#[test]
fn a_proxy_that_does_not_help_is_told() {
    let nearby = Nearby::new();
    let refuses = nearby.start(HttpProxy::rejecting(403));
    let wants = nearby.start(HttpProxy::rejecting(407));
    for (url, proxy, words) in [
        (
            "https://server.test/mcp",
            refuses.address().to_string(),
            "the proxy does not let us through to the source (HTTP status 403); ask who runs it",
        ),
        (
            "https://server.test/mcp",
            wants.address().to_string(),
            "(HTTP status 407); it wants a name and a password",
        ),
        (
            "http://server.test/mcp",
            wants.address().to_string(),
            "(HTTP status 407); it wants a name and a password",
        ),
        (
            "https://server.test/mcp",
            "127.0.0.1:9".to_owned(),
            "cannot be used: nothing listens at its address; check the variables",
        ),
        (
            "https://server.test/mcp",
            "nowhere.invalid:3128".to_owned(),
            "cannot be used: its host name is not known here; check the variables",
        ),
    ] {
        let named = format!("http://ada:{PASSWORD}@{proxy}");
        let server = gateway(&json!({ "url": url }), &[], &[("ALL_PROXY", &named)]);
        let told = why(&server);
        assert!(told.contains(words), "{told}");
        stop_discreetly(server);
    }
}

/// A variable that is wrong is told before anything starts, and only where it matters.
#[test]
fn a_variable_that_names_no_proxy_is_told() {
    let wrong = format!("gopher://ada:{PASSWORD}@proxy:70");
    for (url, code) in [
        ("https://server.test/mcp", 2),
        ("http://127.0.0.1:9/mcp", 0),
    ] {
        let home = Home::with_config(&format!("sources: {{ a: {{ url: \"{url}\" }} }}\n"));
        let mut command = home.tidegate(&["check"]);
        let ended = Running::start(command.env("ALL_PROXY", &wrong)).end();
        let ended = ended.expect_code(code);
        let said = ended.stdout + &ended.stderr;
        assert!(!said.contains(PASSWORD), "{said}");
        let told = said.contains("ALL_PROXY: names no proxy that can be used");
        assert_eq!(told, code == 2, "{said}");
    }
}
