//! Malformed HTTP requests and their responses: a status, an error code, a message and a
//! correlation id that is in the log.

use serde_json::json;

use crate::support::messages::{HEALTH, MODERN, STATS, request, stateless};
use crate::support::{Answer, Post, Server};

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[track_caller]
fn assert_rejected(server: &Server, answer: &Answer, status: u16, code: i64, text: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let error_body = answer.json();
    assert_eq!(error_body["jsonrpc"], "2.0");
    assert_eq!(error_body["error"]["code"], code, "{error_body}");
    let message = error_body["error"]["message"].as_str().unwrap();
    assert!(message.contains(text), "{text:?}: {message}");
    let correlation = error_body["error"]["data"]["correlationId"]
        .as_str()
        .unwrap();
    server.process.stderr.find(correlation);
}

/// The gateway keeps working.
#[track_caller]
fn still_works(server: Server) {
    let answer = server.modern("resources/read", json!({ "uri": STATS }));
    assert_eq!(answer.status, 200, "{answer:?}");
    server.stop();
}

#[test]
fn rejects_deep_nesting() {
    let server = Server::start();
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#);
    for body in [deep, inside, "[".repeat(10_000)] {
        let answer = server.post().usual().send(body.as_bytes());
        assert_rejected(&server, &answer, 400, -32600, "nests deeper than 64");
    }
    still_works(server);
}

#[test]
fn rejects_duplicate_keys() {
    let server = Server::start();
    let twice = br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#;
    let answer = server.post().usual().send(twice);
    assert_rejected(&server, &answer, 400, -32600, "`method`");
    let twice = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{STATS}","uri":"{HEALTH}"}}}}"#
    );
    let answer = server.post().usual().send(twice.as_bytes());
    assert_rejected(&server, &answer, 200, -32602, "`uri`");
    assert_eq!(answer.json()["id"], 1);
    still_works(server);
}

#[test]
fn rejects_duplicate_headers() {
    let server = Server::start();
    let body = request(1, "tools/list", &stateless(json!({}))).to_string();
    let modern = || {
        let post = server.post().usual().header("Mcp-Method", "tools/list");
        post.header("MCP-Protocol-Version", MODERN)
    };
    assert_eq!(modern().send(body.as_bytes()).status, 200);
    for (name, value, code) in [
        ("Mcp-Method", "tools/list", -32020),
        ("mcp-method", "prompts/list", -32020),
        ("MCP-Protocol-Version", MODERN, -32020),
        ("Content-Type", "application/json", -32600),
    ] {
        let answer = modern().header(name, value).send(body.as_bytes());
        let text = name.to_ascii_lowercase();
        assert_rejected(&server, &answer, 400, code, &text);
    }
    still_works(server);
}

/// A second session id could make two components see different sessions.
#[test]
fn rejects_a_duplicate_session_id() {
    let server = Server::start();
    let post = server.post().usual().header("Mcp-Session-Id", "a");
    let answer = post.header("Mcp-Session-Id", "b").send(LIST);
    assert_rejected(&server, &answer, 400, -32020, "mcp-session-id");
    still_works(server);
}

/// Two credentials, one of which may be valid: neither is checked.
#[test]
fn rejects_a_duplicate_credential() {
    let server = Server::start();
    let post = server.post().usual().header("Authorization", "Bearer a");
    let answer = post.header("Authorization", "Bearer b").send(LIST);
    assert_rejected(&server, &answer, 400, -32600, "authorization");
    still_works(server);
}

#[test]
fn rejects_an_unsupported_accept_header() {
    let server = Server::start();
    let json = || server.post().header("Content-Type", "application/json");
    for accept in ["text/html", "application/json", "text/event-stream", ""] {
        let answer = json().header("Accept", accept).send(LIST);
        let text = "Accept: application/json, text/event-stream";
        assert_rejected(&server, &answer, 406, -32600, text);
    }
    for accept in [
        "*/*",
        "application/json, text/event-stream",
        "text/event-stream;q=0.5,Application/JSON;charset=utf-8",
        "application/json, */*;q=0.1",
    ] {
        let answer = json().header("Accept", accept).send(LIST);
        assert_eq!(answer.status, 200, "{accept}");
    }
    let answer = json().send(LIST);
    assert_eq!(answer.status, 200, "no header accepts all");
    still_works(server);
}

/// A body that a web page can send to another origin without preflight is rejected.
#[test]
fn rejects_an_unsupported_content_type() {
    let server = Server::start();
    let text = "Content-Type: application/json";
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let answer = server.post().header("Content-Type", kind).send(LIST);
        assert_rejected(&server, &answer, 415, -32600, text);
    }
    let answer = server.post().send(LIST);
    assert_rejected(&server, &answer, 415, -32600, text);
    let answer = server.post().usual().header("Content-Encoding", "gzip");
    assert_rejected(&server, &answer.send(LIST), 415, -32600, text);
    still_works(server);
}

/// An announced body of 100 MB is rejected at its head, unread.
#[test]
fn rejects_a_body_over_the_limit() {
    let server = Server::start();
    let (answer, sent) = server
        .post()
        .usual()
        .send_length(100 << 20, &[b' '; 1 << 16]);
    assert_rejected(&server, &answer, 413, -32600, "limit of 4194304 bytes");
    assert!(
        sent < 100 << 20,
        "no response before {sent} bytes were sent"
    );
    still_works(server);
}

/// A body without announced length is rejected when it exceeds the limit.
#[test]
fn rejects_a_chunked_body_over_the_limit() {
    let server = Server::start();
    let (answer, sent) = server
        .post()
        .usual()
        .send_chunks(100 << 20, &[b' '; 1 << 16]);
    assert_rejected(&server, &answer, 413, -32600, "limit of 4194304 bytes");
    assert!(
        sent < 100 << 20,
        "no response before {sent} bytes were sent"
    );
    still_works(server);
}

#[test]
fn rejects_invalid_messages() {
    let server = Server::start();
    for (body, code, text) in [
        (&b""[..], -32700, "invalid JSON"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth",
            -32700,
            "invalid JSON",
        ),
        (b"\xff\xfe", -32700, "UTF-8"),
        (b"7", -32600, "object"),
        (b"[]", -32600, "empty"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            -32600,
            "id",
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            -32600,
            "id",
        ),
    ] {
        let answer = server.post().usual().send(body);
        assert_rejected(&server, &answer, 400, code, text);
    }
    still_works(server);
}

#[test]
fn rejects_a_foreign_origin_or_host() {
    let server = Server::start();
    let evil = server
        .post()
        .usual()
        .header("Origin", "http://evil.example");
    assert_rejected(&server, &evil.send(LIST), 403, -31403, "origin");
    let evil = server.post().usual().header("Host", "evil.example");
    assert_rejected(&server, &evil.send(LIST), 403, -31403, "host");
    still_works(server);
}

#[test]
fn rejects_an_unknown_path_or_method() {
    let server = Server::start();
    let nowhere = server.post().usual().at("/mcp/nobody").send(LIST);
    assert_rejected(&server, &nowhere, 404, -32600, "unknown source");
    let nowhere = server.post().usual().at("/").send(LIST);
    assert_rejected(&server, &nowhere, 404, -32600, "/mcp");
    // Without a session there is nothing to GET or DELETE.
    for (method, allowed) in [
        ("GET", "POST"),
        ("DELETE", "POST"),
        ("PUT", "GET, POST, DELETE"),
    ] {
        let post = server.post().method(method).header("Accept", "*/*");
        let answer = post.send(b"");
        assert_rejected(&server, &answer, 405, -32600, "POST");
        assert_eq!(answer.header("allow"), Some(allowed), "{method}");
    }
    still_works(server);
}

/// More headers than the limit.
#[test]
fn rejects_headers_over_the_limit() {
    let server = Server::start();
    let answer = server
        .post()
        .usual()
        .header("X", &"x".repeat(1 << 20))
        .send(LIST);
    assert_eq!(answer.status, 431, "{answer:?}");
    still_works(server);
}

/// Bytes that are not HTTP get an HTTP response, and the connection is closed.
#[test]
fn rejects_bytes_that_are_not_http() {
    let server = Server::start();
    let answer = Post::raw(
        server.address,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    );
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
        "{answer}"
    );
    still_works(server);
}
