//! Gateways, calls and assertions that many tests share.

use serde_json::{Value, json};
use tidegate_server::TransportLimits;
use tidegate_testkit::{Connection, FakeSource, HttpResponse, Session, TestGateway, wait_until};

/// A gateway with the standard source, and the source.
pub(crate) async fn standard() -> (TestGateway, FakeSource) {
    standard_with(|_| {}).await
}

/// A gateway with the standard source and changed limits, and the source.
pub(crate) async fn standard_with(
    change: impl FnOnce(&mut TransportLimits),
) -> (TestGateway, FakeSource) {
    let source = FakeSource::standard();
    let gateway = TestGateway::with(source.clone()).limits(change);
    (gateway.start().await, source)
}

/// Starts a call that blocks until the test releases `hold`.
pub(crate) async fn hold_call(gateway: &TestGateway, source: &FakeSource) -> Connection {
    let started = source.counts("hold").started;
    let call = gateway.client().modern_call("fake__hold", json!({}));
    let connection = call.request().send_only().await;
    source.started("hold", started + 1).await;
    connection
}

/// Starts a modern call and a call of a session that block until the test releases `hold` twice.
pub(crate) async fn hold_two_calls(
    gateway: &TestGateway,
    session: &Session,
    source: &FakeSource,
) -> [Connection; 2] {
    let stateless = hold_call(gateway, source).await;
    let started = source.counts("hold").started;
    let in_session = session.call("fake__hold", json!({})).send_only().await;
    source.started("hold", started + 1).await;
    [stateless, in_session]
}

/// Asserts that the gateway serves calls.
pub(crate) async fn expect_echo(gateway: &TestGateway) {
    let call = gateway.client().modern_call("fake__echo", json!({}));
    expect_result(call.send().await).await;
}

/// Waits until the gateway accepts a call, after a permit was returned.
pub(crate) async fn wait_until_calls_are_accepted(gateway: &TestGateway) {
    let call = gateway.client().modern_call("fake__echo", json!({}));
    let is_accepted = async || call.send().await.status == 200;
    wait_until("a call to be accepted", is_accepted).await;
}

/// Asserts that the gateway responds to a ping.
pub(crate) async fn expect_pong(gateway: &TestGateway) {
    let ping = gateway.client().post(&bare_request("ping", json!({})));
    expect_result(ping.send().await).await;
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
