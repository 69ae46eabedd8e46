//! Opens connections to a server, directly or through a proxy.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use tower_service::Service;

use super::connect_error::Failure;
use super::proxy::{Proxy, Way};
use super::resolver::Names;
use super::stream::{Io, Stream};
use super::tls::{Tls, TrustStore};
use super::tunnel;

/// How long it may take until a request can be sent: through the proxy, encrypted and all.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A silent connection is probed after this time, then this often, and given up when nothing comes
/// back for that long. So a server that vanished is noticed within half a minute.
const SILENCE: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_secs(5);
#[cfg(target_os = "linux")]
const GIVEN_UP: Duration = Duration::from_secs(20);

/// The way to one server.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Parts>);

struct Parts {
    tcp: HttpConnector<Names>,
    tls: Tls,
    proxy: Option<(Proxy, Tls)>,
}

impl Connector {
    pub(super) fn new(trust: &TrustStore, proxy: Option<Proxy>) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Names::new());
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(SILENCE));
        tcp.set_keepalive_interval(Some(PROBE));
        tcp.set_keepalive_retries(Some(3));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(GIVEN_UP));
        let parts = Parts {
            tcp,
            tls: Tls::of_server(trust),
            proxy: proxy.map(|proxy| (proxy, Tls::of_proxy(trust))),
        };
        Self(Arc::new(parts))
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Stream, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let parts = Arc::clone(&self.0);
        Box::pin(async move {
            let opening = tokio::time::timeout(PATIENCE, parts.open(&server));
            opening.await.unwrap_or(Err(Failure::TooSlow))
        })
    }
}

impl Parts {
    async fn open(&self, server: &Uri) -> Result<Stream, Failure> {
        let Some((proxy, tls)) = &self.proxy else {
            let reached = self.tcp.clone().call(server.clone()).await;
            return self
                .encrypt(reached.map_err(Failure::server)?, server)
                .await;
        };
        match proxy.way(server) {
            Way::Forward => Ok(Stream {
                forwarded: true,
                ..self.reach_proxy(proxy, tls).await?
            }),
            Way::Tunnel => {
                let to_proxy = self.reach_proxy(proxy, tls).await?;
                let tunnel = tunnel::open(to_proxy, server, proxy.credentials()).await?;
                self.encrypt(tunnel, server).await
            }
            Way::Socks => {
                let mut socks = SocksV5::new(proxy.address(), self.tcp.clone());
                if let Some((name, password)) = proxy.name_and_password() {
                    socks = socks.with_auth(name.to_owned(), password.to_owned());
                }
                let reached = socks.call(server.clone()).await;
                self.encrypt(reached.map_err(Failure::proxy)?, server).await
            }
        }
    }

    async fn reach_proxy(&self, proxy: &Proxy, tls: &Tls) -> Result<Stream, Failure> {
        let address = proxy.address();
        let reached = self.tcp.clone().call(address.clone()).await;
        let reached = reached.map_err(Failure::proxy)?;
        if address.scheme() != Some(&Scheme::HTTPS) {
            return Ok(Stream::plain(reached));
        }
        let encrypted = tls
            .encrypt(reached, address.host().unwrap_or_default())
            .await;
        encrypted.map_err(Failure::proxy)
    }

    /// Encrypts what leads to a server, if its address says so.
    async fn encrypt(&self, io: impl Io, server: &Uri) -> Result<Stream, Failure> {
        if server.scheme() != Some(&Scheme::HTTPS) {
            return Ok(Stream::plain(io));
        }
        let encrypted = self
            .tls
            .encrypt(io, server.host().unwrap_or_default())
            .await;
        encrypted.map_err(Failure::server)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use socket2::SockRef;
    use tokio::net::TcpListener;

    use super::*;

    /// R5: what a vanished peer would take for ever to tell, the kernel finds out by itself.
    #[tokio::test]
    async fn the_kernel_watches_every_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let connector = Connector::new(&TrustStore::system(), None);
        let mut tcp = connector.0.tcp.clone();
        let stream = tcp.call(url.parse().unwrap()).await.unwrap();
        let socket = SockRef::from(stream.inner());
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), SILENCE);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), PROBE);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(GIVEN_UP));
    }
}
