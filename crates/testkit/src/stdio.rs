//! A client over stdio: one message per line in each direction.
//!
//! Must not know: HTTP.

use std::io;

use serde_json::{Value, json};
use tidegate_server::serve_stdio;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::gateway::GatewayParts;
use crate::{MODERN, wait_for};

/// The client's ends of the pipes, and the gateway at the other ends.
pub struct StdioClient {
    input: Option<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// Held so that the output stays open in both directions.
    _output_writer: WriteHalf<DuplexStream>,
    serving: JoinHandle<io::Result<()>>,
    stop: CancellationToken,
    next_id: u64,
}

impl StdioClient {
    pub(crate) fn open(parts: GatewayParts, bytes: usize) -> Self {
        let (input, gateway_input) = duplex(bytes);
        let (output, gateway_output) = duplex(bytes);
        let stop = CancellationToken::new();
        let serving = {
            let stop = stop.clone();
            tokio::spawn(async move {
                // The background tasks end with the transport.
                let parts = parts;
                serve_stdio(&parts.transports, gateway_input, gateway_output, stop).await
            })
        };
        let (output, output_writer) = split(output);
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            _output_writer: output_writer,
            serving,
            stop,
            next_id: 1,
        }
    }

    /// Sends raw bytes.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        wait_for("the gateway to read its input", input.write_all(bytes))
            .await
            .expect("the input is open");
    }

    pub async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Sends a request without `_meta`; returns its id.
    pub async fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.take_id();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Sends a modern request; returns its id.
    pub async fn modern(&mut self, method: &str, params: Value) -> u64 {
        let params = with_modern_meta(params);
        self.request(method, params).await
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// Opens a session with a revision; returns the response.
    pub async fn initialize(&mut self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let id = self.request("initialize", params).await;
        let response = self.response(&id.into()).await;
        self.notify("notifications/initialized", json!({})).await;
        response
    }

    /// The next line; `None` at the end.
    pub async fn next_line(&mut self) -> Option<String> {
        wait_for("a line of output", self.output.next_line())
            .await
            .expect("readable output")
    }

    /// The next message; `None` at the end. Panics on a line that is not JSON.
    pub async fn next(&mut self) -> Option<Value> {
        let line = self.next_line().await?;
        let message = serde_json::from_str(&line);
        Some(message.unwrap_or_else(|error| panic!("not JSON ({error}): {line}")))
    }

    /// The next message; panics at the end.
    pub async fn message(&mut self) -> Value {
        self.next().await.expect("another message")
    }

    /// The response to a request; skips other messages.
    pub async fn response(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message().await;
            if message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// All messages until the end.
    pub async fn remaining(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }

    /// Closes the input: the client sends nothing more.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Stops the gateway, as a signal does.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until the transport has closed.
    pub async fn closed(self) {
        let served = wait_for("the pipe to close", self.serving).await;
        served
            .expect("serving does not panic")
            .expect("serving succeeds");
    }

    fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

/// Adds the `_meta` members that a modern request requires.
pub(crate) fn with_modern_meta(mut params: Value) -> Value {
    let members = params.as_object_mut().expect("params are an object");
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    let meta = meta.as_object_mut().expect("`_meta` is an object");
    meta.entry(tidegate_mcp::revision::meta_keys::PROTOCOL_VERSION)
        .or_insert_with(|| MODERN.into());
    meta.entry(tidegate_mcp::revision::meta_keys::CLIENT_CAPABILITIES)
        .or_insert_with(|| json!({}));
    params
}
