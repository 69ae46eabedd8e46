//! A connection to a server through a proxy that opens it for us.

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::{Request, Uri};
use http_body_util::Empty;
use hyper::client::conn::http1::handshake;
use hyper::upgrade::Upgraded;

use super::connect_error::Failure;
use super::stream::Stream;

/// Asks the proxy at the other end for a connection to the server of this address.
pub(super) async fn open(
    to_proxy: Stream,
    server: &Uri,
    credentials: Option<HeaderValue>,
) -> Result<Upgraded, Failure> {
    let host = server.host().unwrap_or_default();
    let address = format!("{host}:{}", server.port_u16().unwrap_or(443));
    let mut request = Request::connect(&address).header(HOST, &address);
    if let Some(credentials) = credentials {
        request = request.header(PROXY_AUTHORIZATION, credentials);
    }
    let request = request
        .body(Empty::<Bytes>::new())
        .map_err(Failure::proxy)?;
    let (mut requests, connection) = handshake(to_proxy).await.map_err(Failure::proxy)?;
    // Ends with the request, or gives the connection away.
    tokio::spawn(connection.with_upgrades());
    let answer = requests.send_request(request).await;
    let answer = answer.map_err(Failure::proxy)?;
    match answer.status() {
        status if status.is_success() => hyper::upgrade::on(answer).await.map_err(Failure::proxy),
        status => Err(Failure::ProxyRefused(status)),
    }
}
