//! A client over stdio, one message per line.

use serde_json::{Value, json};
use tidegate_testkit::wait_for;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

/// The client's ends of the pipes.
pub(crate) struct StdioPeer<R, W> {
    read: tokio::io::Lines<BufReader<R>>,
    write: W,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> StdioPeer<R, W> {
    pub(crate) fn new(read: R, write: W) -> Self {
        let read = BufReader::new(read).lines();
        Self { read, write }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.flush().await.unwrap();
    }

    pub(crate) async fn request(&mut self, id: u64, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
    }

    /// Sends a modern request.
    pub(crate) async fn modern(&mut self, id: u64, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        self.request(id, method, params).await;
    }

    pub(crate) async fn initialize(&mut self, revision: &str, capabilities: Value) -> Value {
        let info = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
        self.request(0, "initialize", params).await;
        let hello = self.next().await.unwrap();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        hello
    }

    /// The next line; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = wait_for("a line from the fixture", self.read.next_line()).await;
        line.ok().flatten()
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.line().await?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }
}
