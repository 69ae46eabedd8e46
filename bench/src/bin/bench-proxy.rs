//! A plain reverse proxy, as the baseline. Its argument is the address of the server; its first line
//! on stdout is its own address.
//!
//! Must not know: MCP.

use std::io::{Write as _, stdout};
use std::net::SocketAddr;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let server = std::env::args()
        .nth(1)
        .context("missing argument: the address of the server")?;
    let server: SocketAddr = server.parse()?;
    let client = Client::builder(TokioExecutor::new()).build_http::<Incoming>();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(stdout(), "{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let client = client.clone();
        let pass = service_fn(move |mut request: Request<Incoming>| {
            let path = request
                .uri()
                .path_and_query()
                .map_or("/", |path| path.as_str());
            let uri = format!("http://{server}{path}").parse::<Uri>();
            *request.uri_mut() = uri.unwrap_or_default();
            client.request(request)
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), pass));
    }
}
