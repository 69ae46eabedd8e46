//! Servers behind proxies.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::intermediaries::{
    CertificateAuthority, HttpProxy, ProxyRequest, SocksProxy, TlsTerminator,
};

use super::{TestServers, assert_works, gateway, unreachable_line};
use crate::support::{Home, Running, Server};

const PASSWORD: &str = "p4ssw0rd";
/// `ada:p4ssw0rd`, as sent to proxies.
const ENCODED_CREDENTIAL: &str = "YWRhOnA0c3N3MHJk";

/// Stops the gateway and checks that its log contains no password.
#[track_caller]
fn stop_without_leak(server: Server) {
    let log = server.stop().stderr;
    assert!(
        !log.contains(PASSWORD) && !log.contains(ENCODED_CREDENTIAL),
        "{log}"
    );
}

#[test]
fn http_requests_go_through_the_proxy() {
    let servers = TestServers::new();
    let fixture = servers.fixture(Fixture::modern());
    let proxy = servers.start(HttpProxy::forwarding_to(fixture.address()));
    let proxy_url = format!("http://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "http://server.test/mcp" });
    let server = gateway(&source, &[], &[("http_proxy", &proxy_url)]);
    assert_works(&server);
    let requests = proxy.requests();
    assert!(!requests.is_empty());
    let expected = ProxyRequest {
        method: "POST".to_owned(),
        target: "http://server.test/mcp".to_owned(),
        credential: Some(format!("Basic {ENCODED_CREDENTIAL}")),
    };
    assert!(
        requests.iter().all(|request| *request == expected),
        "{requests:?}"
    );
    let received = fixture.received();
    assert!(
        received
            .iter()
            .all(|request| request.header("host") == Some("server.test"))
    );
    stop_without_leak(server);
}

/// The proxy opens a tunnel and sees none of its content.
#[test]
fn tls_connection_is_tunnelled_through_the_proxy() {
    let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
    let fixture = servers.fixture(Fixture::legacy("2025-11-25"));
    let certificate = authority.issue("server.test");
    let protocols = &["h2", "http/1.1"];
    let terminator = servers.start(TlsTerminator::start(
        fixture.address(),
        certificate,
        protocols,
    ));
    let proxy = servers.start(HttpProxy::forwarding_to(terminator.address()));
    let proxy_url = format!("http://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "https://server.test/mcp", "ca": "authority.pem" });
    let files = [("authority.pem", authority.pem())];
    let server = gateway(&source, &files, &[("HTTPS_PROXY", &proxy_url)]);
    assert_works(&server);
    let expected = ProxyRequest {
        method: "CONNECT".to_owned(),
        target: "server.test:443".to_owned(),
        credential: Some(format!("Basic {ENCODED_CREDENTIAL}")),
    };
    assert_eq!(proxy.requests(), [expected]);
    let received = fixture.received();
    let shown = received
        .iter()
        .find_map(|request| request.header("proxy-authorization"));
    assert_eq!(shown, None, "the proxy credential reached the server");
    stop_without_leak(server);
}

#[test]
fn socks_proxies_are_supported() {
    let servers = TestServers::new();
    let fixture = servers.fixture(Fixture::modern());
    let proxy = servers.start(SocksProxy::forwarding_to(fixture.address()));
    let proxy_url = format!("socks5://ada:{PASSWORD}@{}", proxy.address());
    let source = json!({ "url": "http://server.test:8000/mcp" });
    let server = gateway(&source, &[], &[("ALL_PROXY", &proxy_url)]);
    assert_works(&server);
    let requests = proxy.requests();
    assert_eq!(requests[0], format!("ada:{PASSWORD} server.test:8000"));
    stop_without_leak(server);
}

#[test]
fn loopback_servers_bypass_the_proxy() {
    let servers = TestServers::new();
    let fixture = servers.fixture(Fixture::modern());
    let proxy = servers.start(HttpProxy::forwarding_to(fixture.address()));
    let proxy_url = format!("http://{}", proxy.address());
    let source = json!({ "url": fixture.url() });
    let server = gateway(
        &source,
        &[],
        &[("http_proxy", &proxy_url), ("ALL_PROXY", &proxy_url)],
    );
    assert_works(&server);
    assert_eq!(proxy.requests(), []);
    server.stop();
}

#[test]
fn proxy_errors_are_explained() {
    let servers = TestServers::new();
    let rejects = servers.start(HttpProxy::rejecting(403));
    let requires_credential = servers.start(HttpProxy::rejecting(407));
    for (url, proxy, message) in [
        (
            "https://server.test/mcp",
            rejects.address().to_string(),
            "the proxy refused the connection to the source (HTTP status 403); ask its administrator",
        ),
        (
            "https://server.test/mcp",
            requires_credential.address().to_string(),
            "(HTTP status 407); it requires credentials",
        ),
        (
            "http://server.test/mcp",
            requires_credential.address().to_string(),
            "(HTTP status 407); it requires credentials",
        ),
        (
            "https://server.test/mcp",
            "127.0.0.1:9".to_owned(),
            "cannot use the proxy to the source: connection refused; check HTTP_PROXY",
        ),
        (
            "https://server.test/mcp",
            "nowhere.invalid:3128".to_owned(),
            "cannot use the proxy to the source: its host name cannot be resolved; check HTTP_PROXY",
        ),
    ] {
        let proxy_url = format!("http://ada:{PASSWORD}@{proxy}");
        let server = gateway(&json!({ "url": url }), &[], &[("ALL_PROXY", &proxy_url)]);
        let line = unreachable_line(&server);
        assert!(line.contains(message), "{line}");
        stop_without_leak(server);
    }
}

/// An invalid variable is reported before anything starts, and only if it is used.
#[test]
fn invalid_proxy_variable_is_reported() {
    let wrong = format!("gopher://ada:{PASSWORD}@proxy:70");
    for (url, code) in [
        ("https://server.test/mcp", 2),
        ("http://127.0.0.1:9/mcp", 0),
    ] {
        let home = Home::with_config(&format!("sources: {{ a: {{ url: \"{url}\" }} }}\n"));
        let mut command = home.tidegate(&["check"]);
        let ended = Running::start(command.env("ALL_PROXY", &wrong)).end();
        let ended = ended.expect_code(code);
        let output = ended.stdout + &ended.stderr;
        assert!(!output.contains(PASSWORD), "{output}");
        let line = output.contains("ALL_PROXY: not a valid proxy");
        assert_eq!(line, code == 2, "{output}");
    }
}
