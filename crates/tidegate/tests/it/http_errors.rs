//! Malformed HTTP requests and their responses: a status, an error code, a message and a
//! correlation id that is in the log.

use serde_json::json;

use crate::support::messages::{HEALTH, MODERN, STATS, request, with_modern_meta};
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

/// Starts a gateway for a check, after which it must still work.
#[track_caller]
fn with_gateway(check: impl FnOnce(&Server)) {
    let server = Server::start();
    check(&server);
    let answer = server.modern("resources/read", json!({ "uri": STATS }));
    assert_eq!(answer.status, 200, "{answer:?}");
    server.stop();
}

#[test]
fn rejects_deep_nesting() {
    with_gateway(|server| {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}}}"#);
        for body in [deep, inside, "[".repeat(10_000)] {
            let answer = server.post().with_mcp_headers().send(body.as_bytes());
            assert_rejected(server, &answer, 400, -32600, "nests deeper than 64");
        }
    });
}

#[test]
fn rejects_duplicate_keys() {
    with_gateway(|server| {
        let twice = br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#;
        let answer = server.post().with_mcp_headers().send(twice);
        assert_rejected(server, &answer, 400, -32600, "`method`");
        let twice = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":"{STATS}","uri":"{HEALTH}"}}}}"#
        );
        let answer = server.post().with_mcp_headers().send(twice.as_bytes());
        assert_rejected(server, &answer, 200, -32602, "`uri`");
        assert_eq!(answer.json()["id"], 1);
    });
}

#[test]
fn rejects_duplicate_headers() {
    with_gateway(|server| {
        let body = request(1, "tools/list", &with_modern_meta(json!({}))).to_string();
        let modern = || {
            let post = server
                .post()
                .with_mcp_headers()
                .header("Mcp-Method", "tools/list");
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
            assert_rejected(server, &answer, 400, code, &text);
        }
    });
}

/// A second session id could make two components see different sessions.
#[test]
fn rejects_a_duplicate_session_id() {
    with_gateway(|server| {
        let post = server
            .post()
            .with_mcp_headers()
            .header("Mcp-Session-Id", "a");
        let answer = post.header("Mcp-Session-Id", "b").send(LIST);
        assert_rejected(server, &answer, 400, -32020, "mcp-session-id");
    });
}

/// Two credentials, one of which may be valid: neither is checked.
#[test]
fn rejects_a_duplicate_credential() {
    with_gateway(|server| {
        let post = server
            .post()
            .with_mcp_headers()
            .header("Authorization", "Bearer a");
        let answer = post.header("Authorization", "Bearer b").send(LIST);
        assert_rejected(server, &answer, 400, -32600, "authorization");
    });
}

#[test]
fn rejects_an_unsupported_accept_header() {
    with_gateway(|server| {
        let json = || server.post().header("Content-Type", "application/json");
        for accept in ["text/html", "application/json", "text/event-stream", ""] {
            let answer = json().header("Accept", accept).send(LIST);
            let text = "Accept: application/json, text/event-stream";
            assert_rejected(server, &answer, 406, -32600, text);
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
    });
}

/// A body that a web page can send to another origin without preflight is rejected.
#[test]
fn rejects_an_unsupported_content_type() {
    with_gateway(|server| {
        let text = "Content-Type: application/json";
        for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
            let answer = server.post().header("Content-Type", kind).send(LIST);
            assert_rejected(server, &answer, 415, -32600, text);
        }
        let answer = server.post().send(LIST);
        assert_rejected(server, &answer, 415, -32600, text);
        let answer = server
            .post()
            .with_mcp_headers()
            .header("Content-Encoding", "gzip");
        assert_rejected(server, &answer.send(LIST), 415, -32600, text);
    });
}

/// A body of 100 MB: if its length is announced, it is rejected at its head, otherwise when it
/// exceeds the limit.
#[test]
fn rejects_a_body_over_the_limit() {
    const LENGTH: usize = 100 << 20;
    with_gateway(|server| {
        for send in [Post::send_length, Post::send_chunks] {
            let (answer, sent) = send(server.post().with_mcp_headers(), LENGTH, &[b' '; 1 << 16]);
            assert_rejected(server, &answer, 413, -32600, "limit of 4194304 bytes");
            assert!(sent < LENGTH, "no response before {sent} bytes were sent");
        }
    });
}

#[test]
fn rejects_invalid_messages() {
    with_gateway(|server| {
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
            let answer = server.post().with_mcp_headers().send(body);
            assert_rejected(server, &answer, 400, code, text);
        }
    });
}

#[test]
fn rejects_a_foreign_origin_or_host() {
    with_gateway(|server| {
        let request = server
            .post()
            .with_mcp_headers()
            .header("Origin", "http://evil.example");
        assert_rejected(server, &request.send(LIST), 403, -31403, "origin");
        let request = server
            .post()
            .with_mcp_headers()
            .header("Host", "evil.example");
        assert_rejected(server, &request.send(LIST), 403, -31403, "host");
    });
}

#[test]
fn rejects_an_unknown_path_or_method() {
    with_gateway(|server| {
        let answer = server
            .post()
            .with_mcp_headers()
            .at("/mcp/nobody")
            .send(LIST);
        assert_rejected(
            server,
            &answer,
            404,
            -32600,
            "no source named `nobody`; configured: ",
        );
        let answer = server.post().with_mcp_headers().at("/").send(LIST);
        assert_rejected(server, &answer, 404, -32600, "/mcp");
        // Without a session there is nothing to GET or DELETE.
        for (method, allowed) in [
            ("GET", "POST"),
            ("DELETE", "POST"),
            ("PUT", "GET, POST, DELETE"),
        ] {
            let post = server.post().method(method).header("Accept", "*/*");
            let answer = post.send(b"");
            assert_rejected(server, &answer, 405, -32600, "POST");
            assert_eq!(answer.header("allow"), Some(allowed), "{method}");
        }
    });
}

#[test]
fn rejects_headers_over_the_limit() {
    with_gateway(|server| {
        let answer = server
            .post()
            .with_mcp_headers()
            .header("X", &"x".repeat(1 << 20))
            .send(LIST);
        assert_eq!(answer.status, 431, "{answer:?}");
    });
}

/// Bytes that are not HTTP get an HTTP response, and the connection is closed.
#[test]
fn rejects_bytes_that_are_not_http() {
    with_gateway(|server| {
        let answer = Post::raw(
            server.address,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        );
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
            "{answer}"
        );
    });
}
