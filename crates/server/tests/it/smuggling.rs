//! T5: a body whose end two readers could see in two places hides no second request.

use serde_json::json;
use tidegate_testkit::Connection;

use crate::support::{served, standard};

/// A request head with these lines, then these bytes, then a whole call of its own.
async fn sent(connection: &mut Connection, lines: &str, body: &str, hidden: &[u8]) {
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n{body}");
    connection.write(head.as_bytes()).await;
    connection.write(hidden).await;
}

#[tokio::test]
async fn a_request_with_two_ends_hides_nothing() {
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
        sent(&mut connection, &lines, body, &hidden).await;
        // Whatever is answered, the connection is not used for anything after it.
        let answer = connection.try_response().await;
        assert!(
            answer.as_ref().is_none_or(|one| one.status >= 400),
            "{lines}: {answer:?}"
        );
        if let Some(mut answer) = answer {
            answer.text().await;
            answer.into_connection().closed().await;
        }
        assert_eq!(source.counts("echo").started, 0, "{lines}");
    }
    served(
        gateway
            .client()
            .modern_call("fake__echo", json!({}))
            .send()
            .await,
    )
    .await;
}

/// A refusal before the body was read does not leave the body to be read as a request.
#[tokio::test]
async fn the_body_of_a_refused_request_is_never_the_next_request() {
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
        sent(&mut connection, &lines, "", &hidden).await;
        let mut answer = connection.response().await;
        assert!(answer.status >= 400);
        answer.text().await;
        // Nothing more is said on this connection, unless it is asked for.
        let mut connection = answer.into_connection();
        connection
            .write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await;
        if let Some(mut answer) = connection.try_response().await {
            assert_eq!(answer.text().await, "ok\n", "{lines}");
        }
        assert_eq!(source.counts("echo").started, 0, "{lines}");
    }
}
