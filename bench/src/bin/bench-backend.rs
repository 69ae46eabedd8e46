//! A minimal, fast MCP server: one tool and one resource, in one era and one response format. Its
//! first line on stdout is its address.
//!
//! Must not know: its clients.

use std::convert::Infallible;
use std::io::{Write as _, stdout};

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Era {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ResponseFormat {
    Json,
    Sse,
}

#[derive(Clone, Copy, Parser)]
struct BackendSettings {
    #[arg(long, value_enum)]
    era: Era,
    #[arg(long, value_enum)]
    format: ResponseFormat,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let settings = BackendSettings::parse();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(stdout(), "{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = service_fn(move |request| answer(settings, request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

async fn answer(
    settings: BackendSettings,
    request: Request<Incoming>,
) -> Result<Answer, hyper::Error> {
    if *request.method() != Method::POST {
        return Ok(status(StatusCode::METHOD_NOT_ALLOWED));
    }
    let body = request.into_body().collect().await?.to_bytes();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = &message["id"];
    if id.is_null() {
        return Ok(status(StatusCode::ACCEPTED));
    }
    let method = message["method"].as_str().unwrap_or_default();
    if method == "subscriptions/listen" {
        return Ok(listen_answer(id));
    }
    let (name, content) = match result(settings, method) {
        Some(result) => ("result", result),
        None => ("error", json!({ "code": -32601, "message": "not here" })),
    };
    let text = json!({ "jsonrpc": "2.0", "id": id, name: content }).to_string();
    Ok(encode_answer(settings.format, text, method == "initialize"))
}

fn result(settings: BackendSettings, method: &str) -> Option<Value> {
    let modern = settings.era == Era::Modern;
    let capabilities = json!({ "tools": {}, "resources": {} });
    let mut result = match method {
        "server/discover" if modern => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
        }),
        "initialize" if !modern => json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": { "name": "bench", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "resources/list" => json!({ "resources": [{ "uri": "bench://page", "name": "page" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "it works" }] }),
        "resources/read" => json!({ "contents": [
            { "uri": "bench://page", "mimeType": "text/plain", "text": "x".repeat(1024) },
        ] }),
        "ping" => json!({}),
        _ => return None,
    };
    if modern {
        result["resultType"] = "complete".into();
    }
    Some(result)
}

fn encode_answer(format: ResponseFormat, text: String, opens_session: bool) -> Answer {
    let (kind, text) = match format {
        ResponseFormat::Json => ("application/json", text),
        ResponseFormat::Sse => (
            "text/event-stream",
            format!("event: message\ndata: {text}\n\n"),
        ),
    };
    let mut answer = Response::builder().header(CONTENT_TYPE, kind);
    if opens_session {
        answer = answer.header("Mcp-Session-Id", "bench");
    }
    answer
        .body(Full::from(text).boxed())
        .expect("valid headers")
}

/// A change stream without changes.
fn listen_answer(id: &Value) -> Answer {
    let acknowledgement = json!({
        "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {
            "notifications": {}, "_meta": { "io.modelcontextprotocol/subscriptionId": id },
        },
    });
    let first = Frame::data(Bytes::from(format!("data: {acknowledgement}\n\n")));
    let frames = stream::once(async { Ok(first) });
    let frames = futures_util::StreamExt::chain(frames, stream::pending());
    Response::builder()
        .header(CONTENT_TYPE, "text/event-stream")
        .body(BodyExt::boxed(StreamBody::new(Box::pin(frames))))
        .expect("valid headers")
}

fn status(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = status;
    answer
}
