//! One client on a pipe: a message a line, whatever the client sends.

mod conversation;
mod ending;
mod lines;

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, StdioClient, TestGateway};

async fn standard() -> (StdioClient, FakeSource) {
    let source = FakeSource::standard();
    let pipe = TestGateway::with(source.clone()).stdio().await;
    (pipe, source)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A ping goes through: the pipe is well.
async fn is_well(pipe: &mut StdioClient) {
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.response(&json!(id)).await["result"], json!({}));
}
