//! The load generator: concurrent clients, each with a persistent connection.
//!
//! Must not know: what it connects to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::cell::{Cell, Era, Front};

const SESSION_ID_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// All clients.
pub(crate) struct Load {
    clients: Vec<LoadClient>,
}

/// The result of a number of calls.
pub(crate) struct LoadResult {
    pub(crate) calls: usize,
    pub(crate) time: Duration,
    /// One for each call.
    pub(crate) latencies: Vec<Duration>,
}

struct LoadClient {
    requests: SendRequest<Full<Bytes>>,
    headers: HeaderMap,
    /// The message up to its id, and after it.
    before: String,
    after: String,
    next_id: usize,
}

impl Load {
    /// Connects this many clients.
    pub(crate) async fn open(front: &Front, cell: Cell, count: usize) -> anyhow::Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(LoadClient::open(front, cell).await?);
        }
        Ok(Self { clients })
    }

    /// Makes this many calls, distributed over all clients.
    pub(crate) async fn run(&mut self, calls: usize) -> anyhow::Result<LoadResult> {
        let begun = Arc::new(AtomicUsize::new(0));
        let start = Instant::now();
        let mut tasks = Vec::new();
        for mut client in self.clients.drain(..) {
            let begun = Arc::clone(&begun);
            tasks.push(tokio::spawn(async move {
                let mut latencies = Vec::new();
                while begun.fetch_add(1, Ordering::Relaxed) < calls {
                    let start = Instant::now();
                    client.call().await?;
                    latencies.push(start.elapsed());
                }
                anyhow::Ok((client, latencies))
            }));
        }
        let mut all = Vec::with_capacity(calls);
        for task in tasks {
            let (client, latencies) = task.await??;
            self.clients.push(client);
            all.extend(latencies);
        }
        Ok(LoadResult {
            calls,
            time: start.elapsed(),
            latencies: all,
        })
    }
}

impl LoadClient {
    async fn open(front: &Front, cell: Cell) -> anyhow::Result<Self> {
        let address = front.process.address;
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (requests, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let (method, name, params) = front.request(cell);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, address.to_string().try_into()?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let forms = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(forms));
        let mut client = Self {
            requests,
            headers,
            before: r#"{"jsonrpc":"2.0","id":"#.to_owned(),
            after: format!(r#","method":"{method}","params":{params}}}"#),
            next_id: 1,
        };
        match cell.era {
            Era::Legacy => client.handshake().await?,
            Era::Modern => {
                let method = HeaderName::from_static("mcp-method");
                client
                    .headers
                    .insert(method, front.request(cell).0.try_into()?);
                let named = HeaderName::from_static("mcp-name");
                client.headers.insert(named, name.try_into()?);
            }
        }
        let revision = HeaderValue::from_static(cell.era.revision());
        client.headers.insert(PROTOCOL_VERSION_HEADER, revision);
        Ok(client)
    }

    /// Opens a session.
    async fn handshake(&mut self) -> anyhow::Result<()> {
        let params = json!({
            "protocolVersion": Era::Legacy.revision(), "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (headers, _) = self.post(hello.to_string()).await?;
        let session = headers
            .get(SESSION_ID_HEADER)
            .context("the response to initialize has no session id")?;
        self.headers.insert(SESSION_ID_HEADER, session.clone());
        let notification: Value =
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post(notification.to_string()).await?;
        Ok(())
    }

    async fn call(&mut self) -> anyhow::Result<()> {
        let body = format!("{}{}{}", self.before, self.next_id, self.after);
        self.next_id += 1;
        let (_, answer) = self.post(body).await?;
        let is_result = answer.windows(8).any(|part| part == b"\"result\"");
        ensure!(is_result, "no result: {}", String::from_utf8_lossy(&answer));
        Ok(())
    }

    async fn post(&mut self, body: String) -> anyhow::Result<(HeaderMap, Bytes)> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = hyper::Uri::from_static("/mcp");
        *request.headers_mut() = self.headers.clone();
        self.requests.ready().await?;
        let answer = self.requests.send_request(request).await?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        let said = || String::from_utf8_lossy(&body).into_owned();
        ensure!(head.status.is_success(), "{}: {}", head.status, said());
        Ok((head.headers, body))
    }
}
