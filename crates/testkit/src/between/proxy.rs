//! A proxy over HTTP: passes requests on and opens tunnels, always to one server, under whatever
//! name it is asked for.
//!
//! Must not know: what is said through it.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
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

/// What a proxy was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    /// As it was written: a whole address, or a host and a port.
    pub target: String,
    /// The credential that was shown.
    pub credential: Option<String>,
}

/// A proxy. Dropping it closes everything.
pub struct TestProxy {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _taking: JoinSet<()>,
}

type Body = BoxBody<Bytes, hyper::Error>;

/// What it does with a request: serves it from there, or answers with a status.
#[derive(Clone, Copy)]
enum Rule {
    To(SocketAddr),
    Refuse(u16),
}

impl TestProxy {
    /// One that knows the way to this server.
    pub async fn to(server: SocketAddr) -> Self {
        Self::start(Rule::To(server)).await
    }

    /// One that answers everything with this status.
    pub async fn refusing(status: u16) -> Self {
        Self::start(Rule::Refuse(status)).await
    }

    async fn start(rule: Rule) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("the socket has an address");
        let asked = Arc::default();
        let mut taking = JoinSet::new();
        taking.spawn(take(listener, rule, Arc::clone(&asked)));
        Self {
            address,
            asked,
            _taking: taking,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked for so far, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock();
        asked.clone()
    }
}

async fn take(listener: TcpListener, rule: Rule, asked: Arc<Mutex<Vec<Asked>>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let asked = Arc::clone(&asked);
        let service = service_fn(move |request: Request<Incoming>| {
            note(&asked, &request);
            async move { Ok::<_, Infallible>(answer(rule, request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        connections.spawn(async move {
            connection.await.ok();
        });
    }
}

fn note(asked: &Mutex<Vec<Asked>>, request: &Request<Incoming>) {
    let credential = request.headers().get(PROXY_AUTHORIZATION);
    let credential = credential.and_then(|value| value.to_str().ok());
    let mut all = asked.lock();
    all.push(Asked {
        method: request.method().to_string(),
        target: request.uri().to_string(),
        credential: credential.map(str::to_owned),
    });
}

async fn answer(rule: Rule, request: Request<Incoming>) -> Response<Body> {
    let server = match rule {
        Rule::To(server) => server,
        Rule::Refuse(number) => return status(number),
    };
    let served = match *request.method() == Method::CONNECT {
        true => tunnel(server, request).await,
        false => forward(server, request).await,
    };
    served.unwrap_or_else(|| status(502))
}

async fn tunnel(server: SocketAddr, request: Request<Incoming>) -> Option<Response<Body>> {
    let mut far = TcpStream::connect(server).await.ok()?;
    tokio::spawn(async move {
        let near = hyper::upgrade::on(request).await.ok()?;
        tokio::io::copy_bidirectional(&mut TokioIo::new(near), &mut far)
            .await
            .ok()
    });
    Some(status(200))
}

async fn forward(server: SocketAddr, mut request: Request<Incoming>) -> Option<Response<Body>> {
    let path = request.uri().path_and_query()?.as_str().parse::<Uri>();
    *request.uri_mut() = path.ok()?;
    request.headers_mut().remove(PROXY_AUTHORIZATION);
    let far = TcpStream::connect(server).await.ok()?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(far)).await;
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
