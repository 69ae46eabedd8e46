//! An HTTP proxy that forwards requests and opens tunnels to one server, whatever the requested
//! target.
//!
//! Must not know: what is sent through it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::header::PROXY_AUTHORIZATION;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::listen;

/// A request as the proxy received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRequest {
    pub method: String,
    /// As received: an absolute URL, or a host and a port.
    pub target: String,
    /// The value of `Proxy-Authorization`.
    pub credential: Option<String>,
}

/// A proxy. Dropping it closes all connections.
pub struct HttpProxy {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ProxyRequest>>>,
    _accepting: JoinSet<()>,
}

type Body = BoxBody<Bytes, hyper::Error>;

/// What it does with each request.
#[derive(Clone, Copy)]
enum ProxyMode {
    ForwardTo(SocketAddr),
    /// Responds with this status.
    Reject(u16),
}

impl HttpProxy {
    /// Starts a proxy that forwards to this server.
    pub async fn forwarding_to(server: SocketAddr) -> Self {
        Self::start(ProxyMode::ForwardTo(server)).await
    }

    /// Starts a proxy that responds to every request with this status.
    pub async fn rejecting(status: u16) -> Self {
        Self::start(ProxyMode::Reject(status)).await
    }

    async fn start(mode: ProxyMode) -> Self {
        let (listener, address) = listen().await;
        let requests = Arc::default();
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(listener, mode, Arc::clone(&requests)));
        Self {
            address,
            requests,
            _accepting: accepting,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests received so far, oldest first.
    pub fn requests(&self) -> Vec<ProxyRequest> {
        let requests = self.requests.lock();
        requests.clone()
    }
}

async fn accept(listener: TcpListener, mode: ProxyMode, requests: Arc<Mutex<Vec<ProxyRequest>>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let requests = Arc::clone(&requests);
        let service = service_fn(move |request: Request<Incoming>| {
            record(&requests, &request);
            async move { Ok::<_, Infallible>(answer(mode, request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        connections.spawn(async move {
            connection.await.ok();
        });
    }
}

fn record(requests: &Mutex<Vec<ProxyRequest>>, request: &Request<Incoming>) {
    let credential = request.headers().get(PROXY_AUTHORIZATION);
    let credential = credential.and_then(|value| value.to_str().ok());
    let mut all = requests.lock();
    all.push(ProxyRequest {
        method: request.method().to_string(),
        target: request.uri().to_string(),
        credential: credential.map(str::to_owned),
    });
}

async fn answer(mode: ProxyMode, request: Request<Incoming>) -> Response<Body> {
    let server = match mode {
        ProxyMode::ForwardTo(server) => server,
        ProxyMode::Reject(number) => return status(number),
    };
    let served = match *request.method() == Method::CONNECT {
        true => tunnel(server, request).await,
        false => forward(server, request).await,
    };
    served.unwrap_or_else(|| status(502))
}

async fn tunnel(server: SocketAddr, request: Request<Incoming>) -> Option<Response<Body>> {
    let mut upstream = TcpStream::connect(server).await.ok()?;
    tokio::spawn(async move {
        let client = hyper::upgrade::on(request).await.ok()?;
        tokio::io::copy_bidirectional(&mut TokioIo::new(client), &mut upstream)
            .await
            .ok()
    });
    Some(status(200))
}

async fn forward(server: SocketAddr, mut request: Request<Incoming>) -> Option<Response<Body>> {
    let path = request.uri().path_and_query()?.as_str().parse::<Uri>();
    *request.uri_mut() = path.ok()?;
    request.headers_mut().remove(PROXY_AUTHORIZATION);
    let upstream = TcpStream::connect(server).await.ok()?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(upstream)).await;
    let (mut requests, connection) = handshake.ok()?;
    tokio::spawn(connection);
    let answer = requests.send_request(request).await.ok()?;
    Some(answer.map(BodyExt::boxed))
}

fn status(number: u16) -> Response<Body> {
    let body = Empty::new().map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = number.try_into().expect("a status");
    response
}
