//! The stdio transport: one client, one message per line.

mod lines;
mod messages;
mod shutdown;

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, StdioClient, TestGateway};

async fn standard() -> (StdioClient, FakeSource) {
    let source = FakeSource::standard();
    let stdio = TestGateway::with(source.clone()).stdio().await;
    (stdio, source)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Asserts that the connection still works.
async fn assert_ping(stdio: &mut StdioClient) {
    let id = stdio.request("ping", json!({})).await;
    assert_eq!(stdio.response(&json!(id)).await["result"], json!({}));
}
