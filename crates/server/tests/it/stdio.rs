//! One client on a pipe: a message a line, whatever the client sends.

mod conversation;
mod ending;
mod lines;

use serde_json::{Value, json};
use tidegate_testkit::{FakeSource, Pipe, TestGateway};

async fn standard() -> (Pipe, FakeSource) {
    let source = FakeSource::standard();
    let pipe = TestGateway::with(source.clone()).pipe().await;
    (pipe, source)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A ping goes through: the pipe is well.
async fn is_well(pipe: &mut Pipe) {
    let id = pipe.request("ping", json!({})).await;
    assert_eq!(pipe.answer(&json!(id)).await["result"], json!({}));
}
