//! A tunnel to a server through an HTTP proxy (CONNECT).

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::{Request, Uri};
use http_body_util::Empty;
use hyper::client::conn::http1::handshake;
use hyper::upgrade::Upgraded;

use super::connect_error::ConnectError;
use super::stream::HttpStream;

/// Asks the proxy to connect to the server of this URL.
pub(super) async fn open(
    to_proxy: HttpStream,
    server: &Uri,
    authorization: Option<HeaderValue>,
) -> Result<Upgraded, ConnectError> {
    let host = server.host().unwrap_or_default();
    let address = format!("{host}:{}", server.port_u16().unwrap_or(443));
    let mut request = Request::connect(&address).header(HOST, &address);
    if let Some(authorization) = authorization {
        request = request.header(PROXY_AUTHORIZATION, authorization);
    }
    let request = request
        .body(Empty::<Bytes>::new())
        .map_err(ConnectError::proxy)?;
    let (mut requests, connection) = handshake(to_proxy).await.map_err(ConnectError::proxy)?;
    // Ends with the request, or hands the connection over to the tunnel.
    tokio::spawn(connection.with_upgrades());
    let response = requests.send_request(request).await;
    let response = response.map_err(ConnectError::proxy)?;
    match response.status() {
        status if status.is_success() => hyper::upgrade::on(response)
            .await
            .map_err(ConnectError::proxy),
        status => Err(ConnectError::ProxyRefused(status)),
    }
}
