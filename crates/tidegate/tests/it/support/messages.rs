//! Messages as clients of each revision write them.

use serde_json::{Value, json};

use super::http::OpenResponse;
use super::{Answer, Post};

pub(crate) use tidegate_testkit::{LEGACY, MODERN};

pub(crate) const HEALTH: &str = "resource://system/health";
pub(crate) const MODELS: &str = "resource://system/models";
pub(crate) const STATS: &str = "plugin://system/stats";

/// The gateway tools, last in the list of all sources.
pub(crate) const GATEWAY_TOOLS: [&str; 5] = [
    "gateway__search",
    "gateway__list_resources",
    "gateway__read_resource",
    "gateway__get_prompt",
    "gateway__call_tool",
];

/// These tools, followed by the gateway tools.
pub(crate) fn and_gateway_tools(tools: &[&str]) -> Vec<String> {
    let all = tools.iter().chain(&GATEWAY_TOOLS);
    all.map(|&name| name.to_owned()).collect()
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn notification(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": method })
}

/// The params of `initialize`.
pub(crate) fn handshake(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "it", "version": "1.0.0" },
    })
}

/// Adds the `_meta` members of a modern request.
pub(crate) fn with_modern_meta(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": "it", "version": "1.0.0" });
    params
}

/// The params of a subscription to these resources.
pub(crate) fn watching(uris: &[&str]) -> Value {
    json!({ "notifications": { "resourceSubscriptions": uris } })
}

/// A modern request over HTTP, with headers that repeat its body.
pub(crate) struct Modern {
    method: String,
    params: Value,
}

impl Modern {
    pub(crate) fn new(method: &str, params: Value) -> Self {
        Self {
            method: method.to_owned(),
            params: with_modern_meta(params),
        }
    }

    /// Sets a member of `_meta`.
    pub(crate) fn set_meta(&mut self, key: &str, value: Value) {
        self.params["_meta"][key] = value;
    }

    pub(crate) fn post(&self, post: Post) -> Answer {
        self.open(post).answer()
    }

    pub(crate) fn open(&self, post: Post) -> OpenResponse {
        let mut post = post
            .with_mcp_headers()
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", &self.method);
        let name = self.params.get("name").or_else(|| self.params.get("uri"));
        if let Some(name) = name.and_then(Value::as_str) {
            post = post.header("Mcp-Name", name);
        }
        let body = request(1, &self.method, &self.params).to_string();
        post.open(body.as_bytes())
    }
}
