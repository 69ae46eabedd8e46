//! HTTP requests that no careful client sends, and the answers a careful server gives: a status, a
//! number for programs, words for people and an id to find it in the log.

use serde_json::json;

use crate::support::messages::{HEALTH, MODERN, STATS, request, stateless};
use crate::support::{Answer, Post, Server};

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[track_caller]
fn refused(server: &Server, answer: &Answer, status: u16, code: i64, words: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let said = answer.json();
    assert_eq!(said["jsonrpc"], "2.0");
    assert_eq!(said["error"]["code"], code, "{said}");
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{words:?}: {message}");
    let correlation = said["error"]["data"]["correlationId"].as_str().unwrap();
    server.process.stderr.find(correlation);
}

/// The gateway goes on as if nothing had been.
#[track_caller]
fn still_works(server: Server) {
    let answer = server.modern("resources/read", json!({ "uri": STATS }));
    assert_eq!(answer.status, 200, "{answer:?}");
    server.stop();
}

#[test]
fn a_deep_array() {
    let server = Server::start();
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#);
    for body in [deep, inside, "[".repeat(10_000)] {
        let answer = server.post().usual().send(body.as_bytes());
        refused(&server, &answer, 400, -32600, "nests deeper than 64");
    }
    still_works(server);
}

#[test]
fn duplicate_keys() {
    let server = Server::start();
    let twice = br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#;
    let answer = server.post().usual().send(twice);
    refused(&server, &answer, 400, -32600, "`method`");
    let twice = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{STATS}","uri":"{HEALTH}"}}}}"#
    );
    let answer = server.post().usual().send(twice.as_bytes());
    refused(&server, &answer, 200, -32602, "`uri`");
    assert_eq!(answer.json()["id"], 1);
    still_works(server);
}

#[test]
fn duplicate_headers() {
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
        let words = name.to_ascii_lowercase();
        refused(&server, &answer, 400, code, &words);
    }
    still_works(server);
}

/// A second session id could make two parts of a system see two sessions.
#[test]
fn a_duplicate_session_id() {
    let server = Server::start();
    let post = server.post().usual().header("Mcp-Session-Id", "a");
    let answer = post.header("Mcp-Session-Id", "b").send(LIST);
    refused(&server, &answer, 400, -32020, "mcp-session-id");
    still_works(server);
}

/// Two keys, of which one may be right: neither is looked at.
#[test]
fn a_duplicate_credential() {
    let server = Server::start();
    let post = server.post().usual().header("Authorization", "Bearer a");
    let answer = post.header("Authorization", "Bearer b").send(LIST);
    refused(&server, &answer, 400, -32600, "authorization");
    still_works(server);
}

#[test]
fn a_wrong_accept() {
    let server = Server::start();
    let json = || server.post().header("Content-Type", "application/json");
    for accept in ["text/html", "application/json", "text/event-stream", ""] {
        let answer = json().header("Accept", accept).send(LIST);
        let words = "Accept: application/json, text/event-stream";
        refused(&server, &answer, 406, -32600, words);
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

/// What a web page can send to another server without asking is not taken.
#[test]
fn a_wrong_content_type() {
    let server = Server::start();
    let words = "Content-Type: application/json";
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let answer = server.post().header("Content-Type", kind).send(LIST);
        refused(&server, &answer, 415, -32600, words);
    }
    let answer = server.post().send(LIST);
    refused(&server, &answer, 415, -32600, words);
    let answer = server.post().usual().header("Content-Encoding", "gzip");
    refused(&server, &answer.send(LIST), 415, -32600, words);
    still_works(server);
}

/// An announced body of 100 MB is refused at its head; nothing of it is read.
#[test]
fn a_large_body() {
    let server = Server::start();
    let (answer, sent) = server
        .post()
        .usual()
        .send_length(100 << 20, &[b' '; 1 << 16]);
    refused(&server, &answer, 413, -32600, "larger than 4194304 bytes");
    assert!(
        sent < 100 << 20,
        "the answer came early, after {sent} bytes"
    );
    still_works(server);
}

/// A body whose length is not announced is refused when it grows too long.
#[test]
fn a_large_body_in_chunks() {
    let server = Server::start();
    let (answer, sent) = server
        .post()
        .usual()
        .send_chunks(100 << 20, &[b' '; 1 << 16]);
    refused(&server, &answer, 413, -32600, "larger than 4194304 bytes");
    assert!(
        sent < 100 << 20,
        "the answer came early, after {sent} bytes"
    );
    still_works(server);
}

#[test]
fn what_is_no_message() {
    let server = Server::start();
    for (body, code, words) in [
        (&b""[..], -32700, "not JSON"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", -32700, "not JSON"),
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
        refused(&server, &answer, 400, code, words);
    }
    still_works(server);
}

#[test]
fn a_foreign_page_or_host() {
    let server = Server::start();
    let evil = server
        .post()
        .usual()
        .header("Origin", "http://evil.example");
    refused(&server, &evil.send(LIST), 403, -31403, "origin");
    let evil = server.post().usual().header("Host", "evil.example");
    refused(&server, &evil.send(LIST), 403, -31403, "host");
    still_works(server);
}

#[test]
fn a_wrong_place_or_method() {
    let server = Server::start();
    let nowhere = server.post().usual().at("/mcp/nobody").send(LIST);
    refused(&server, &nowhere, 404, -32600, "no source of this name");
    let nowhere = server.post().usual().at("/").send(LIST);
    refused(&server, &nowhere, 404, -32600, "/mcp");
    // Without a session there is nothing to get or to delete.
    for (method, allowed) in [
        ("GET", "POST"),
        ("DELETE", "POST"),
        ("PUT", "GET, POST, DELETE"),
    ] {
        let post = server.post().method(method).header("Accept", "*/*");
        let answer = post.send(b"");
        refused(&server, &answer, 405, -32600, "POST");
        assert_eq!(answer.header("allow"), Some(allowed), "{method}");
    }
    still_works(server);
}

/// More headers than are held at once.
#[test]
fn large_headers() {
    let server = Server::start();
    let answer = server
        .post()
        .usual()
        .header("X", &"x".repeat(1 << 20))
        .send(LIST);
    assert_eq!(answer.status, 431, "{answer:?}");
    still_works(server);
}

/// Bytes that are no HTTP get an answer in HTTP, and the connection ends.
#[test]
fn no_http() {
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
