//! Encrypted connections.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;
use tidegate_testkit::intermediaries::{CertificateAuthority, ServerCertificate, TlsTerminator};

use super::{Nearby, call, gateway, why, works};
use crate::support::messages::{handshake, request};

const BOTH: &[&str] = &["h2", "http/1.1"];

fn source(front: &TlsTerminator) -> serde_json::Value {
    let url = format!("https://localhost:{}/mcp", front.port());
    json!({ "url": url, "ca": "authority.pem" })
}

/// The settings of one source make one set of connections, whoever calls: here just one.
#[test]
fn all_calls_share_one_connection_of_http_2() {
    let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
    let fixture = nearby.fixture(Fixture::legacy("2025-11-25"));
    let identity = authority.issue("localhost");
    let front = nearby.start(TlsTerminator::start(fixture.address(), identity, BOTH));
    let server = gateway(&source(&front), &[("authority.pem", authority.pem())], &[]);
    works(&server);
    // A client that can be asked something has a session of its own behind the gateway.
    let mut hello = handshake("2025-11-25");
    hello["capabilities"] = json!({ "elicitation": {} });
    let hello = request(1, "initialize", &hello).to_string();
    let opened = server.post().usual().send(hello.as_bytes());
    let session = opened.header("mcp-session-id").unwrap();
    let params = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    let body = request(2, "tools/call", &params).to_string();
    let post = server.post().usual().header("mcp-session-id", session);
    let answer = post.send(body.as_bytes());
    assert!(answer.body.contains("simple text"), "{answer:?}");
    assert!(fixture.sessions() > 1, "{}", fixture.sessions());
    assert_eq!(front.resumed(), [false]);
    server.stop();
}

#[test]
fn a_server_without_http_2_is_spoken_to_as_it_likes_and_sessions_are_resumed() {
    for protocols in [&["http/1.1"][..], &[]] {
        let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
        let fixture = nearby.fixture(Fixture::modern());
        let identity = authority.issue("localhost");
        let front = nearby.start(TlsTerminator::start(fixture.address(), identity, protocols));
        let server = gateway(&source(&front), &[("authority.pem", authority.pem())], &[]);
        works(&server);
        let before = front.resumed().len();
        front.cut();
        while front.resumed().len() == before {
            call(&server);
        }
        assert!(front.resumed()[before], "{:?}", front.resumed());
        server.stop();
    }
}

/// R5: a peer that vanished is noticed while a call waits, well before the call's own time is up.
#[test]
fn a_server_that_vanished_is_noticed() {
    let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
    let fixture = nearby.fixture(Fixture::modern());
    let identity = authority.issue("localhost");
    let front = nearby.start(TlsTerminator::start(fixture.address(), identity, BOTH));
    let server = gateway(&source(&front), &[("authority.pem", authority.pem())], &[]);
    works(&server);
    front.freeze();
    let call = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    let answer = server.modern("tools/call", call).body;
    assert!(answer.contains("has stopped answering"), "{answer}");
    server.stop();
}

/// Who a server is must be vouched for; what is wrong is told, with what to do.
#[test]
fn a_server_that_is_not_who_it_should_be_is_told() {
    let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
    let fixture = nearby.fixture(Fixture::modern());
    let front = |identity: ServerCertificate| {
        nearby.start(TlsTerminator::start(fixture.address(), identity, BOTH))
    };
    let stranger = CertificateAuthority::new();
    for (identity, words, cause) in [
        (
            stranger.issue("localhost"),
            "issued by nobody we trust; if its issuer is to be trusted, name",
            "UnknownIssuer",
        ),
        (
            authority.issue("elsewhere.test"),
            "is for another host name; check its `url`",
            "elsewhere.test",
        ),
        (
            authority.issue_expired("localhost"),
            "has expired; it has to be renewed",
            "expired",
        ),
    ] {
        let front = front(identity);
        let server = gateway(&source(&front), &[("authority.pem", authority.pem())], &[]);
        let told = why(&server);
        assert!(told.contains(words) && told.contains(cause), "{told}");
        server.stop();
    }
    assert_eq!(fixture.received(), []);
}

/// With `ca` nobody else is believed, and without it the authorities of this machine are.
#[test]
fn an_authority_of_this_machine_is_trusted_unless_another_is_named() {
    let (nearby, authority) = (Nearby::new(), CertificateAuthority::new());
    let fixture = nearby.fixture(Fixture::modern());
    let identity = authority.issue("localhost");
    let front = nearby.start(TlsTerminator::start(fixture.address(), identity, BOTH));
    let url = format!("https://localhost:{}/mcp", front.port());
    let (own, other) = (authority.pem(), CertificateAuthority::new());
    // As the system's TLS libraries find them.
    let of_machine = [("SSL_CERT_FILE", "system.pem")];
    let files = [("system.pem", own), ("other.pem", other.pem())];
    let server = gateway(&json!({ "url": url }), &files, &of_machine);
    works(&server);
    server.stop();
    let server = gateway(
        &json!({ "url": url, "ca": "other.pem" }),
        &files,
        &of_machine,
    );
    let told = why(&server);
    assert!(told.contains("issued by nobody we trust"), "{told}");
    server.stop();
}

#[test]
fn a_server_that_does_not_encrypt_is_told() {
    let nearby = Nearby::new();
    let fixture = nearby.fixture(Fixture::modern());
    let url = fixture.url().replace("http:", "https:");
    let server = gateway(&json!({ "url": url }), &[], &[]);
    let told = why(&server);
    assert!(told.contains("may have to begin with http"), "{told}");
    server.stop();
}
