//! Words that many tests use.

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, HttpResponse, TestGateway};

/// A gateway over the standard source, and the source.
pub(crate) async fn standard() -> (TestGateway, FakeSource) {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone()).start().await;
    (gateway, source)
}

/// Checks the status and the code of a refusal; gives its message.
pub(crate) async fn refused(answer: HttpResponse, status: u16, code: i64) -> Value {
    let found = answer.status;
    assert!(!answer.is_stream(), "{found}, and a stream");
    let message = answer.json().await;
    let number = message["error"]["code"].as_i64();
    assert_eq!((found, number), (status, Some(code)), "{message}");
    message
}

/// Checks that a request was answered with a result; gives it.
pub(crate) async fn served(answer: HttpResponse) -> Value {
    assert_eq!(answer.status, 200);
    let message = answer.message().await;
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

/// The arguments that an echo came back with.
pub(crate) fn echoed(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("no echo: {result}"))).unwrap_or_default()
}

/// The principal that an echo names.
pub(crate) fn who(result: &Value) -> &str {
    result["content"][1]["text"].as_str().unwrap_or_default()
}

/// A request that says nothing about itself.
pub(crate) fn plain(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The methods of some messages, in order; an answer is `answer`.
pub(crate) fn methods(messages: &[Value]) -> Vec<&str> {
    let names = messages.iter().map(|message| message["method"].as_str());
    names.map(|name| name.unwrap_or("answer")).collect()
}
