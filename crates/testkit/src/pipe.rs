//! A client on a pipe: one message a line, both ways.
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

use crate::gateway::Parts;
use crate::{MODERN, soon};

/// The client's ends of the pipes, and the gateway behind them.
pub struct Pipe {
    input: Option<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// Held so that the output stays open in both directions.
    _back: WriteHalf<DuplexStream>,
    serving: JoinHandle<io::Result<()>>,
    stop: CancellationToken,
    next_id: u64,
}

impl Pipe {
    pub(crate) fn open(parts: Parts, bytes: usize) -> Self {
        let (input, gateway_input) = duplex(bytes);
        let (output, gateway_output) = duplex(bytes);
        let stop = CancellationToken::new();
        let serving = {
            let stop = stop.clone();
            tokio::spawn(async move {
                // The background ends with the transport.
                let parts = parts;
                serve_stdio(&parts.transports, gateway_input, gateway_output, stop).await
            })
        };
        let (output, back) = split(output);
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            _back: back,
            serving,
            stop,
            next_id: 1,
        }
    }

    /// Sends bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        soon("room in the pipe", input.write_all(bytes))
            .await
            .expect("the gateway reads");
    }

    pub async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Sends a request that says nothing about itself, and gives its id.
    pub async fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.fresh_id();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
        id
    }

    /// Sends a stateless request, and gives its id.
    pub async fn modern(&mut self, method: &str, params: Value) -> u64 {
        let params = stateless(params);
        self.request(method, params).await
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// Opens a session at a revision; gives the answer.
    pub async fn initialize(&mut self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let id = self.request("initialize", params).await;
        let answer = self.answer(&id.into()).await;
        self.notify("notifications/initialized", json!({})).await;
        answer
    }

    /// The next line as it is; none at the end.
    pub async fn next_line(&mut self) -> Option<String> {
        soon("a line", self.output.next_line())
            .await
            .expect("the pipe can be read")
    }

    /// The next message; none at the end. Whatever is no JSON fails the test.
    pub async fn next(&mut self) -> Option<Value> {
        let line = self.next_line().await?;
        let message = serde_json::from_str(&line);
        Some(message.unwrap_or_else(|error| panic!("not JSON ({error}): {line}")))
    }

    /// The next message, which must come.
    pub async fn message(&mut self) -> Value {
        self.next().await.expect("the pipe goes on")
    }

    /// The answer to a request; what comes before it is passed over.
    pub async fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message().await;
            if message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// Everything until the end.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }

    /// Ends the input: the client has nothing more to say.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Tells the gateway to stop, as a signal would.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until the transport has closed.
    pub async fn closed(self) {
        let served = soon("the pipe to close", self.serving).await;
        served
            .expect("serving does not panic")
            .expect("serving ends well");
    }

    fn fresh_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

/// Params with what a stateless request says about itself.
pub(crate) fn stateless(mut params: Value) -> Value {
    let members = params.as_object_mut().expect("params are an object");
    let meta = members.entry("_meta").or_insert_with(|| json!({}));
    let meta = meta.as_object_mut().expect("`_meta` is an object");
    meta.entry(tidegate_mcp::revision::key::PROTOCOL_VERSION)
        .or_insert_with(|| MODERN.into());
    meta.entry(tidegate_mcp::revision::key::CLIENT_CAPABILITIES)
        .or_insert_with(|| json!({}));
    params
}
