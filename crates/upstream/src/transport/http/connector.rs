//! Opens TCP connections to a server, directly or through a proxy, with TLS for `https` URLs.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use tower_service::Service;

use super::connect_error::ConnectError;
use super::proxy::{Proxy, ProxyMode};
use super::resolver::Resolver;
use super::stream::{HttpStream, Io};
use super::tls::{Tls, TrustStore};
use super::tunnel;

/// How long it may take to open a connection, proxy and TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// TCP keepalive: when an idle connection is probed first, how often after that, and after which time
/// without an acknowledgement it is closed. A server that vanished is noticed within half a minute.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(20);

/// Opens connections to one server.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Parts>);

struct Parts {
    tcp: HttpConnector<Resolver>,
    tls: Tls,
    proxy: Option<(Proxy, Tls)>,
}

impl Connector {
    pub(super) fn new(trust: &TrustStore, proxy: Option<Proxy>) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Resolver::new());
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE_IDLE));
        tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_retries(Some(3));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED_TIMEOUT));
        let parts = Parts {
            tcp,
            tls: Tls::for_servers(trust),
            proxy: proxy.map(|proxy| (proxy, Tls::for_proxies(trust))),
        };
        Self(Arc::new(parts))
    }
}

impl Service<Uri> for Connector {
    type Response = HttpStream;
    type Error = ConnectError;
    type Future = BoxFuture<'static, Result<HttpStream, ConnectError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let parts = Arc::clone(&self.0);
        Box::pin(async move {
            let connected = tokio::time::timeout(CONNECT_TIMEOUT, parts.connect(&server));
            connected
                .await
                .unwrap_or(Err(ConnectError::Timeout(CONNECT_TIMEOUT)))
        })
    }
}

impl Parts {
    async fn connect(&self, server: &Uri) -> Result<HttpStream, ConnectError> {
        let Some((proxy, proxy_tls)) = &self.proxy else {
            let connected = self.tcp.clone().call(server.clone()).await;
            let connected = connected.map_err(ConnectError::server)?;
            return self.with_tls(connected, server).await;
        };
        match proxy.mode(server) {
            ProxyMode::Forward => Ok(HttpStream {
                is_forwarded: true,
                ..self.connect_to_proxy(proxy, proxy_tls).await?
            }),
            ProxyMode::Tunnel => {
                let to_proxy = self.connect_to_proxy(proxy, proxy_tls).await?;
                let tunnel = tunnel::open(to_proxy, server, proxy.basic_authorization()).await?;
                self.with_tls(tunnel, server).await
            }
            ProxyMode::Socks => {
                let mut socks = SocksV5::new(proxy.address(), self.tcp.clone());
                if let Some((user, password)) = proxy.user_and_password() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                let connected = socks.call(server.clone()).await;
                self.with_tls(connected.map_err(ConnectError::proxy)?, server)
                    .await
            }
        }
    }

    async fn connect_to_proxy(&self, proxy: &Proxy, tls: &Tls) -> Result<HttpStream, ConnectError> {
        let address = proxy.address();
        let connected = self.tcp.clone().call(address.clone()).await;
        let connected = connected.map_err(ConnectError::proxy)?;
        if address.scheme() != Some(&Scheme::HTTPS) {
            return Ok(HttpStream::plain(connected));
        }
        let host = address.host().unwrap_or_default();
        let encrypted = tls.connect(connected, host).await;
        encrypted.map_err(ConnectError::proxy)
    }

    /// Adds TLS if the server's URL is `https`.
    async fn with_tls(&self, io: impl Io, server: &Uri) -> Result<HttpStream, ConnectError> {
        if server.scheme() != Some(&Scheme::HTTPS) {
            return Ok(HttpStream::plain(io));
        }
        let host = server.host().unwrap_or_default();
        let encrypted = self.tls.connect(io, host).await;
        encrypted.map_err(ConnectError::server)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use socket2::SockRef;
    use tokio::net::TcpListener;

    use super::*;

    /// The kernel notices a peer that vanished without closing its connection.
    #[tokio::test]
    async fn every_connection_has_tcp_keepalive() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let connector = Connector::new(&TrustStore::system(), None);
        let mut tcp = connector.0.tcp.clone();
        let stream = tcp.call(url.parse().unwrap()).await.unwrap();
        let socket = SockRef::from(stream.inner());
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE_IDLE);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), KEEPALIVE_INTERVAL);
        assert_eq!(
            socket.tcp_user_timeout().unwrap(),
            Some(UNACKNOWLEDGED_TIMEOUT)
        );
    }
}
