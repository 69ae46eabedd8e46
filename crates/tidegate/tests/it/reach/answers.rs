//! What servers answer that is no answer: redirects, compressed bodies, heads without end, nothing.

use serde_json::json;
use tidegate_testkit::fixture::Fixture;

use super::{Nearby, gateway, why, works};
use crate::support::scripted::Scripted;

/// What the gateway sends to a server, and nobody else may see.
const CANARY: &str = "c4nary-of-the-source";

/// The end of a head, of a server that takes one request a connection.
const END: &str = "Connection: close\r\nContent-Length: 0\r\n\r\n";

fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\n{END}")
}

fn source(url: &str) -> serde_json::Value {
    json!({ "url": url, "headers": { "Authorization": format!("Bearer {CANARY}") } })
}

/// What goes to the same server goes there, with all that belongs to it.
#[test]
fn a_redirect_within_a_server_is_followed() {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": { "name": "moved", "version": "1" },
    } });
    for status in [307, 308] {
        let hello = hello.to_string();
        let server = Scripted::start(move |line| match line {
            line if line.contains(" /old ") => redirect(status, "/new"),
            _ => format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
                 Content-Length: {}\r\n\r\n{hello}",
                hello.len()
            ),
        });
        let gateway = gateway(&source(&server.url("/old")), &[], &[]);
        let heard = || server.received();
        while !heard().iter().any(|one| one.contains(" /new ")) {
            gateway.process.stderr.next();
        }
        let moved = heard().into_iter().find(|one| one.contains(" /new "));
        let moved = moved.unwrap();
        assert!(moved.starts_with("POST "), "{moved}");
        assert!(
            moved.contains(CANARY) && moved.contains("jsonrpc"),
            "{moved}"
        );
        gateway.stop();
    }
}

/// T29: whatever a redirect looks like, nothing of ours goes to another origin.
#[test]
fn a_redirect_elsewhere_is_not_followed_and_told() {
    let other = Scripted::start(|_| redirect(404, "/"));
    let port = other.address.port();
    let elsewhere = [
        format!("http://127.0.0.1:{port}/mcp"),
        format!("http://localhost:{port}/mcp"),
        format!("//127.0.0.1:{port}/mcp"),
        format!("http://eve:secret@127.0.0.1:{port}/mcp?token=secret"),
    ];
    for location in elsewhere {
        for status in [301, 302, 303, 307, 308] {
            let location = location.clone();
            let server = Scripted::start(move |_| redirect(status, &location));
            let gateway = gateway(&source(&server.url("/mcp")), &[], &[]);
            let told = why(&gateway);
            assert!(told.contains("where nothing is sent"), "{told}");
            let log = gateway.stop().stderr;
            assert!(!log.contains(CANARY) && !log.contains("secret"), "{log}");
        }
    }
    assert_eq!(other.received(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_read_is_told() {
    let large = "x".repeat(128 * 1024);
    let answers: [(String, &str); 7] = [
        (
            redirect(302, "/other"),
            "does not repeat the request (HTTP status 302)",
        ),
        (redirect(307, "/mcp"), "redirects again and again"),
        (
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n{END}"),
            "compresses its answers, which it was not asked to",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nX-Large: {large}\r\n{END}"),
            "the head of the source's answer is larger than allowed",
        ),
        (
            "SSH-2.0-OpenSSH_9.9\r\n\r\n".to_owned(),
            "does not speak HTTP at its address",
        ),
        (String::new(), "closed the connection before it answered"),
        (
            format!("HTTP/1.1 500 Oops\r\n{END}"),
            "refused with HTTP status 500",
        ),
    ];
    for (answer, words) in answers {
        let server = Scripted::start(move |_| answer.clone());
        let gateway = gateway(&source(&server.url("/mcp")), &[], &[]);
        let told = why(&gateway);
        assert!(told.contains(words), "{words}: {told}");
        gateway.stop();
        let asked = server.received().concat().to_ascii_lowercase();
        assert!(!asked.contains("accept-encoding"), "{asked}");
    }
}

#[test]
fn a_server_that_is_not_there_is_told() {
    for (url, words) in [
        (
            "http://127.0.0.1:9/mcp",
            "nothing listens at the source's address",
        ),
        (
            "http://nowhere.invalid/mcp",
            "host name is not known here; check its `url`",
        ),
    ] {
        let gateway = gateway(&source(url), &[], &[]);
        let told = why(&gateway);
        assert!(told.contains(words) && told.contains("cause="), "{told}");
        let health = json!({ "name": "system__health", "arguments": {} });
        let health = gateway.modern("tools/call", health).body;
        assert!(
            health.contains(words.split(';').next().unwrap()),
            "{health}"
        );
        gateway.stop();
    }
}

/// What clients show to the gateway is for the gateway alone.
#[test]
fn no_credential_of_a_client_reaches_a_server() {
    let nearby = Nearby::new();
    let fixture = nearby.fixture(Fixture::modern());
    let server = gateway(&source(&fixture.url()), &[], &[]);
    works(&server);
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
    let heard = fixture.received_for("tools/call");
    assert_eq!(heard.len(), 1);
    assert_eq!(
        heard[0].header("authorization"),
        Some("Bearer c4nary-of-the-source")
    );
    assert!(!format!("{heard:?}").contains(secret), "{heard:?}");
    server.stop();
}
