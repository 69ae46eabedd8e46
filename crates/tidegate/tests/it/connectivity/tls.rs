//! TLS connections.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::intermediaries::{CertificateAuthority, ServerCertificate, TlsTerminator};

use super::{TestServers, assert_works, call, gateway, unreachable_line};
use crate::support::messages::{handshake, request};
use crate::support::proc::poll_for;

const BOTH: &[&str] = &["h2", "http/1.1"];

fn source(terminator: &TlsTerminator) -> serde_json::Value {
    let url = format!("https://localhost:{}/mcp", terminator.port());
    json!({ "url": url, "ca": "authority.pem" })
}

/// All calls to a source share one set of connections: with HTTP/2, a single one.
#[test]
fn calls_share_one_http2_connection() {
    let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
    let fixture = servers.fixture(Fixture::legacy("2025-11-25"));
    let certificate = authority.issue("localhost");
    let terminator = servers.start(TlsTerminator::start(fixture.address(), certificate, BOTH));
    let server = gateway(
        &source(&terminator),
        &[("authority.pem", authority.pem())],
        &[],
    );
    assert_works(&server);
    // A client with capabilities has a session of its own behind the gateway.
    let mut initialize = handshake("2025-11-25");
    initialize["capabilities"] = json!({ "elicitation": {} });
    let initialize = request(1, "initialize", &initialize).to_string();
    let opened = server.post().with_mcp_headers().send(initialize.as_bytes());
    let session = opened.header("mcp-session-id").unwrap();
    let params = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    let body = request(2, "tools/call", &params).to_string();
    let post = server
        .post()
        .with_mcp_headers()
        .header("mcp-session-id", session);
    let answer = post.send(body.as_bytes());
    assert!(answer.body.contains("simple text"), "{answer:?}");
    assert!(fixture.sessions() > 1, "{}", fixture.sessions());
    assert_eq!(terminator.resumed(), [false]);
    server.stop();
}

#[test]
fn http1_servers_work_and_tls_sessions_are_resumed() {
    for protocols in [&["http/1.1"][..], &[]] {
        let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
        let fixture = servers.fixture(Fixture::modern());
        let certificate = authority.issue("localhost");
        let terminator = servers.start(TlsTerminator::start(
            fixture.address(),
            certificate,
            protocols,
        ));
        let server = gateway(
            &source(&terminator),
            &[("authority.pem", authority.pem())],
            &[],
        );
        assert_works(&server);
        let before = terminator.resumed().len();
        terminator.cut();
        poll_for("a new connection", || {
            call(&server);
            (terminator.resumed().len() > before).then_some(())
        });
        assert!(terminator.resumed()[before], "{:?}", terminator.resumed());
        server.stop();
    }
}

/// R5: a vanished peer is detected while a call waits, well before the call's own timeout.
#[test]
fn vanished_server_is_detected() {
    let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
    let fixture = servers.fixture(Fixture::modern());
    let certificate = authority.issue("localhost");
    let terminator = servers.start(TlsTerminator::start(fixture.address(), certificate, BOTH));
    let server = gateway(
        &source(&terminator),
        &[("authority.pem", authority.pem())],
        &[],
    );
    assert_works(&server);
    terminator.freeze();
    let call = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    let answer = server.modern("tools/call", call).body;
    assert!(answer.contains("stopped responding"), "{answer}");
    server.stop();
}

/// Server certificates are verified; errors say what to do.
#[test]
fn certificate_errors_are_explained() {
    let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
    let fixture = servers.fixture(Fixture::modern());
    let terminator = |certificate: ServerCertificate| {
        servers.start(TlsTerminator::start(fixture.address(), certificate, BOTH))
    };
    let untrusted = CertificateAuthority::new();
    for (certificate, message, cause) in [
        (
            untrusted.issue("localhost"),
            "issued by an unknown authority; if you trust it, add",
            "UnknownIssuer",
        ),
        (
            authority.issue("elsewhere.test"),
            "is for another host name; check `url`",
            "elsewhere.test",
        ),
        (
            authority.issue_expired("localhost"),
            "has expired; renew it",
            "expired",
        ),
    ] {
        let terminator = terminator(certificate);
        let server = gateway(
            &source(&terminator),
            &[("authority.pem", authority.pem())],
            &[],
        );
        let line = unreachable_line(&server);
        assert!(line.contains(message) && line.contains(cause), "{line}");
        server.stop();
    }
    assert_eq!(fixture.received(), []);
}

/// With `ca` only that authority is trusted, without it the system's authorities.
#[test]
fn system_authorities_are_trusted_unless_ca_is_set() {
    let (servers, authority) = (TestServers::new(), CertificateAuthority::new());
    let fixture = servers.fixture(Fixture::modern());
    let certificate = authority.issue("localhost");
    let terminator = servers.start(TlsTerminator::start(fixture.address(), certificate, BOTH));
    let url = format!("https://localhost:{}/mcp", terminator.port());
    let (own, other) = (authority.pem(), CertificateAuthority::new());
    // As TLS libraries of the system find them.
    let system_variables = [("SSL_CERT_FILE", "system.pem")];
    let files = [("system.pem", own), ("other.pem", other.pem())];
    let server = gateway(&json!({ "url": url }), &files, &system_variables);
    assert_works(&server);
    server.stop();
    let server = gateway(
        &json!({ "url": url, "ca": "other.pem" }),
        &files,
        &system_variables,
    );
    let line = unreachable_line(&server);
    assert!(line.contains("issued by an unknown authority"), "{line}");
    server.stop();
}

#[test]
fn server_without_tls_is_explained() {
    let servers = TestServers::new();
    let fixture = servers.fixture(Fixture::modern());
    let url = fixture.url().replace("http:", "https:");
    let server = gateway(&json!({ "url": url }), &[], &[]);
    let line = unreachable_line(&server);
    assert!(line.contains("may have to begin with `http`"), "{line}");
    server.stop();
}
