//! One HTTP request with arbitrary headers, including duplicates.
//!
//! Must not know: MCP.

use super::{Client, Connection, HttpResponse, UnreadResponse, http2};

/// A request under construction.
#[derive(Clone, Debug)]
pub struct Request {
    client: Client,
    method: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    chunked: bool,
}

impl Request {
    pub(super) fn new(client: &Client, method: &str) -> Self {
        let mut headers = vec![("Host".to_owned(), client.address.to_string())];
        if let Some(key) = &client.key {
            headers.push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        Self {
            client: client.clone(),
            method: method.to_owned(),
            headers,
            body: Vec::new(),
            chunked: false,
        }
    }

    /// Adds a header, even if it is already present.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Replaces a header.
    #[must_use]
    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    #[must_use]
    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    /// Sends the body in chunks, without its length.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// The bytes before the body.
    pub fn head_bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.client.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.chunked {
            text.push_str("Transfer-Encoding: chunked\r\n");
        } else if !self.body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        text.into_bytes()
    }

    /// The bytes of the whole request.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head_bytes();
        if self.chunked {
            bytes.extend_from_slice(format!("{:x}\r\n", self.body.len()).as_bytes());
            bytes.extend_from_slice(&self.body);
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        } else {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }

    /// Sends it on a connection of its own and reads the head of the response.
    pub async fn send(&self) -> HttpResponse {
        self.send_only().await.response().await
    }

    /// Sends it over HTTP/2 with this `:authority`; returns the status and the body. The first
    /// `Host` header is left out, added ones are sent.
    pub async fn send_http2(&self, authority: &str) -> (u16, String) {
        self.http2_exchange(authority).run().await
    }

    /// Sends it over HTTP/2 and reads only the head of the response: the flow control of this client
    /// lets no byte of the body through.
    pub async fn send_http2_unread(&self) -> UnreadResponse {
        let authority = self.client.address.to_string();
        self.http2_exchange(&authority).run_unread().await
    }

    fn http2_exchange(&self, authority: &str) -> http2::Exchange<'_> {
        http2::Exchange {
            address: self.client.address,
            method: &self.method,
            uri: format!("http://{authority}{}", self.client.path),
            headers: self.headers.iter().skip(1).collect(),
            body: self.body.clone(),
        }
    }

    /// Sends it on a connection of its own without reading the response.
    pub async fn send_only(&self) -> Connection {
        let mut connection = self.client.connect().await;
        connection.write(&self.bytes()).await;
        connection
    }
}
