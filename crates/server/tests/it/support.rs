//! Helpers that many tests share.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, HttpResponse, TestGateway};

/// A gateway with the standard source, and the source.
pub(crate) async fn standard() -> (TestGateway, FakeSource) {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone()).start().await;
    (gateway, source)
}

/// Asserts the status and the code of an error response. Returns its message.
pub(crate) async fn expect_error(response: HttpResponse, status: u16, code: i64) -> Value {
    let actual = response.status;
    assert!(!response.is_stream(), "status {actual}, but a stream");
    let message = response.json().await;
    let number = message["error"]["code"].as_i64();
    assert_eq!((actual, number), (status, Some(code)), "{message}");
    message
}

/// Asserts that the response has a result. Returns it.
pub(crate) async fn expect_result(response: HttpResponse) -> Value {
    assert_eq!(response.status, 200);
    let message = response.message().await;
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

/// The arguments that the echo tool returned.
pub(crate) fn echoed(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("not from the echo tool: {result}")))
        .unwrap_or_default()
}

/// The principal that the echo tool saw.
pub(crate) fn principal_of(result: &Value) -> &str {
    result["content"][1]["text"].as_str().unwrap_or_default()
}

/// A request without any metadata.
pub(crate) fn bare_request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The methods of messages, in order. A response is `response`.
pub(crate) fn methods(messages: &[Value]) -> Vec<&str> {
    let names = messages.iter().map(|message| message["method"].as_str());
    names.map(|name| name.unwrap_or("response")).collect()
}
