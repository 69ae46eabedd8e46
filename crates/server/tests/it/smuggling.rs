//! T5: request smuggling. A body with an ambiguous end must not hide a second request.

use serde_json::json;
use tidegate_testkit::Connection;

use crate::support::{expect_echo, standard};

/// Sends a request with these header lines and this body, followed by a complete hidden request.
async fn send_smuggled(connection: &mut Connection, lines: &str, body: &str, hidden: &[u8]) {
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n{body}");
    connection.write(head.as_bytes()).await;
    connection.write(hidden).await;
}

#[tokio::test]
async fn rejects_requests_with_an_ambiguous_length() {
    let (gateway, source) = standard().await;
    let hidden = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .request()
        .bytes();
    let json = "Content-Type: application/json";
    for (lines, body) in [
        (
            format!("{json}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked"),
            "0\r\n\r\n",
        ),
        (
            format!("{json}\r\nTransfer-Encoding: chunked\r\nContent-Length: 0"),
            "9\r\n",
        ),
        (
            format!("{json}\r\nContent-Length: 0\r\nContent-Length: 5"),
            "12345",
        ),
        (format!("{json}\r\nContent-Length: 5, 0"), "12345"),
        (format!("{json}\r\nContent-Length: -1"), ""),
        (format!("{json}\r\nContent-Length: +2"), "{}"),
        (
            format!("{json}\r\nTransfer-Encoding: chunked, identity"),
            "0\r\n\r\n",
        ),
        (
            format!("{json}\r\nTransfer-Encoding: xchunked"),
            "0\r\n\r\n",
        ),
        (format!("{json}\r\nTransfer-Encoding: chunked"), "zz\r\n"),
        (
            format!("{json}\r\nTransfer-Encoding : chunked"),
            "0\r\n\r\n",
        ),
        (format!("{json}\r\nX: a\r\n Content-Length: 0"), "5"),
    ] {
        let mut connection = gateway.client().connect().await;
        send_smuggled(&mut connection, &lines, body, &hidden).await;
        // Whatever the response, the connection is closed after it.
        let response = connection.try_response().await;
        assert!(
            response
                .as_ref()
                .is_none_or(|message| message.status >= 400),
            "{lines}: {response:?}"
        );
        if let Some(mut response) = response {
            response.text().await;
            response.into_connection().closed().await;
        }
        assert_eq!(source.counts("echo").started, 0, "{lines}");
    }
    expect_echo(&gateway).await;
}

/// The unread body of a rejected request must not be parsed as the next request.
#[tokio::test]
async fn the_body_of_a_rejected_request_is_never_the_next_request() {
    let (gateway, source) = standard().await;
    let hidden = gateway
        .client()
        .modern_call("fake__echo", json!({}))
        .request()
        .bytes();
    for lines in [
        "Content-Type: text/plain",
        "Content-Type: application/json\r\nOrigin: http://evil.example",
        "Content-Type: application/json\r\nAccept: text/html",
        "Content-Type: application/json\r\nContent-Encoding: gzip",
    ] {
        let mut connection = gateway.client().connect().await;
        let lines = format!("{lines}\r\nContent-Length: {}", hidden.len());
        send_smuggled(&mut connection, &lines, "", &hidden).await;
        let mut response = connection.response().await;
        assert!(response.status >= 400);
        response.text().await;
        // The next response on this connection belongs to the next request.
        let mut connection = response.into_connection();
        connection
            .write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await;
        if let Some(mut response) = connection.try_response().await {
            assert_eq!(response.text().await, "ok\n", "{lines}");
        }
        assert_eq!(source.counts("echo").started, 0, "{lines}");
    }
}
