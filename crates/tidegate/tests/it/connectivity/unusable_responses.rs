//! HTTP responses that are not usable: redirects, compressed bodies, oversized heads, none.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;

use super::{TestServers, assert_works, gateway, unreachable_line};
use crate::support::proc::poll_for;
use crate::support::scripted::Scripted;

/// A credential for the server that nobody else may see.
const CANARY: &str = "c4nary-of-the-source";

/// The end of a head that closes the connection.
const END: &str = "Connection: close\r\nContent-Length: 0\r\n\r\n";

fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\n{END}")
}

fn source(url: &str) -> serde_json::Value {
    json!({ "url": url, "headers": { "Authorization": format!("Bearer {CANARY}") } })
}

/// A redirect to the same origin is followed, with body and credentials.
#[test]
fn redirect_within_an_origin_is_followed() {
    let initialize_result = json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": { "name": "moved", "version": "1" },
    } });
    for status in [307, 308] {
        let initialize_result = initialize_result.to_string();
        let server = Scripted::start(move |line| match line {
            line if line.contains(" /old ") => redirect(status, "/new"),
            _ => format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n{initialize_result}",
                initialize_result.len()
            ),
        });
        let gateway = gateway(&source(&server.url("/old")), &[], &[]);
        let received = || server.received();
        poll_for("the request to the new location", || {
            received()
                .iter()
                .any(|request| request.contains(" /new "))
                .then_some(())
        });
        let moved = received()
            .into_iter()
            .find(|request| request.contains(" /new "));
        let moved = moved.unwrap();
        assert!(moved.starts_with("POST "), "{moved}");
        assert!(
            moved.contains(CANARY) && moved.contains("jsonrpc"),
            "{moved}"
        );
        gateway.stop();
    }
}

/// T29: no credential is sent to another origin, whatever the redirect looks like.
#[test]
fn redirect_to_another_origin_is_rejected() {
    let other = Scripted::start(|_| redirect(404, "/"));
    let port = other.address.port();
    let other_origins = [
        format!("http://127.0.0.1:{port}/mcp"),
        format!("http://localhost:{port}/mcp"),
        format!("//127.0.0.1:{port}/mcp"),
        format!("http://eve:secret@127.0.0.1:{port}/mcp?token=secret"),
    ];
    for location in other_origins {
        for status in [301, 302, 303, 307, 308] {
            let location = location.clone();
            let server = Scripted::start(move |_| redirect(status, &location));
            let gateway = gateway(&source(&server.url("/mcp")), &[], &[]);
            let line = unreachable_line(&gateway);
            assert!(line.contains("which is not followed"), "{line}");
            let log = gateway.stop().stderr;
            assert!(!log.contains(CANARY) && !log.contains("secret"), "{log}");
        }
    }
    assert_eq!(other.received(), Vec::<String>::new());
}

#[test]
fn unusable_responses_are_explained() {
    let large = "x".repeat(128 * 1024);
    let answers: [(String, &str); 7] = [
        (
            redirect(302, "/other"),
            "with HTTP status 302, which does not repeat the request",
        ),
        (redirect(307, "/mcp"), "redirects in a loop"),
        (
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n{END}"),
            "compresses its responses, which was not requested",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nX-Large: {large}\r\n{END}"),
            "the headers of the source's response exceed the size limit",
        ),
        (
            "SSH-2.0-OpenSSH_9.9\r\n\r\n".to_owned(),
            "does not use HTTP at this address",
        ),
        (String::new(), "closed the connection before it responded"),
        (format!("HTTP/1.1 500 Oops\r\n{END}"), "HTTP status 500"),
    ];
    for (answer, message) in answers {
        let server = Scripted::start(move |_| answer.clone());
        let gateway = gateway(&source(&server.url("/mcp")), &[], &[]);
        let line = unreachable_line(&gateway);
        assert!(line.contains(message), "{message}: {line}");
        gateway.stop();
        let requests = server.received().concat().to_ascii_lowercase();
        assert!(!requests.contains("accept-encoding"), "{requests}");
    }
}

#[test]
fn unreachable_server_is_explained() {
    for (url, message) in [
        (
            "http://127.0.0.1:9/mcp",
            "connection refused; check that the source's server is running",
        ),
        (
            "http://nowhere.invalid/mcp",
            "host name cannot be resolved; check `url`",
        ),
    ] {
        let gateway = gateway(&source(url), &[], &[]);
        let line = unreachable_line(&gateway);
        assert!(line.contains(message) && line.contains("cause="), "{line}");
        let health = json!({ "name": "system__health", "arguments": {} });
        let health = gateway.modern("tools/call", health).body;
        assert!(
            health.contains(message.split(';').next().unwrap()),
            "{health}"
        );
        gateway.stop();
    }
}

/// Credentials of clients are for the gateway only.
#[test]
fn client_credentials_do_not_reach_a_server() {
    let servers = TestServers::new();
    let fixture = servers.fixture(Fixture::modern());
    let server = gateway(&source(&fixture.url()), &[], &[]);
    assert_works(&server);
    fixture.clear_received();
    let secret = "s3cret-of-the-client";
    let mut post = server.post();
    for name in [
        "Authorization",
        "Cookie",
        "Proxy-Authorization",
        "X-Api-Key",
        "X-Forwarded-For",
        "Forwarded",
        "Mcp-Session",
        "Baggage",
    ] {
        post = post.header(name, &format!("Bearer {secret}"));
    }
    let call = json!({ "name": "fixture__test_simple_text", "arguments": {} });
    let call = crate::support::messages::Modern::new("tools/call", call);
    let answer = call.post(post);
    assert!(answer.body.contains("simple text"), "{answer:?}");
    let received = fixture.received_for("tools/call");
    assert_eq!(received.len(), 1);
    assert_eq!(
        received[0].header("authorization"),
        Some("Bearer c4nary-of-the-source")
    );
    assert!(!format!("{received:?}").contains(secret), "{received:?}");
    server.stop();
}
