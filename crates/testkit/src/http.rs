//! A small HTTP/1.1 client. It sends exactly the given bytes, valid or not, and reads responses as
//! they arrive.
//!
//! Must not know: which response is correct.

mod connection;
mod events;
mod http2;
mod modern;
mod request;
mod response;
mod session;

use std::net::SocketAddr;

use serde_json::{Value, json};

pub use connection::Connection;
pub use events::Events;
pub use http2::UnreadResponse;
pub use modern::ModernRequest;
pub use request::Request;
pub use response::HttpResponse;
pub use session::Session;

/// A client of one endpoint.
#[derive(Clone, Debug)]
pub struct Client {
    address: SocketAddr,
    path: String,
    key: Option<String>,
}

impl Client {
    /// A client of the server at this address.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            path: "/mcp".to_owned(),
            key: None,
        }
    }

    /// The same client at another endpoint.
    #[must_use]
    pub fn at(&self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    /// The same client with a bearer key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// A request without a body and with only the headers that every request has.
    pub fn request(&self, method: &str) -> Request {
        Request::new(self, method)
    }

    /// A POST of JSON, with the headers of MCP.
    pub fn post(&self, body: &Value) -> Request {
        self.post_text(&body.to_string())
    }

    /// A POST of any text, with the same headers.
    pub fn post_text(&self, body: &str) -> Request {
        self.request("POST")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(body.as_bytes())
    }

    /// A GET that accepts events.
    pub fn get(&self) -> Request {
        self.request("GET").header("Accept", "text/event-stream")
    }

    /// A modern request, with its headers and its `_meta`.
    pub fn modern(&self, method: &str, params: Value) -> ModernRequest {
        ModernRequest::new(self, method, params)
    }

    /// A modern tool call.
    pub fn modern_call(&self, tool: &str, arguments: Value) -> ModernRequest {
        self.modern(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Opens a session with a revision.
    pub async fn initialize(&self, revision: &str) -> Session {
        self.initialize_with(revision, &json!({})).await
    }

    /// Opens a session of a client with these capabilities.
    pub async fn initialize_with(&self, revision: &str, capabilities: &Value) -> Session {
        Session::open(self, revision, capabilities).await
    }

    /// A plain TCP connection.
    pub async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }
}
