//! Builds a gateway with its real transports.
//!
//! Must not know: how a client sends requests.

mod running;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{CallStats, Gateway, GatewayConfig, Identify, Layer, Naming, Source, SourceId};
use tidegate_policy::authn::{BearerKey, BearerKeys, NoAuthentication};
use tidegate_policy::{Deadline, MetricLabels, Observe};
use tidegate_server::{Admission, HttpConfig, Listener, TransportLimits, Transports, serve_http};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{FakeSource, StdioClient};
pub(crate) use running::GatewayParts;
pub use running::{Stopping, TestGateway};

/// The id of a gateway's first source.
const FIRST_SOURCE: &str = "fake";

/// Builds a [`TestGateway`].
pub struct TestGatewayBuilder {
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    identify: Arc<dyn Identify>,
    limits: TransportLimits,
    http: HttpConfig,
    page_size: usize,
    naming: Naming,
    call_timeout: Duration,
}

impl TestGateway {
    /// A gateway over one source with the id `fake`.
    pub fn with(source: FakeSource) -> TestGatewayBuilder {
        TestGatewayBuilder {
            sources: Vec::new(),
            identify: Arc::new(NoAuthentication::default()),
            limits: TransportLimits::default(),
            http: HttpConfig {
                loopback: true,
                ..HttpConfig::default()
            },
            page_size: 1000,
            naming: Naming::default(),
            call_timeout: Duration::from_secs(3600),
        }
        .fake_source(FIRST_SOURCE, source)
    }
}

impl TestGatewayBuilder {
    /// Adds a scripted source.
    #[must_use]
    pub fn fake_source(self, id: &str, source: FakeSource) -> Self {
        self.with_source(id, Arc::new(source))
    }

    /// Adds any source.
    #[must_use]
    pub fn with_source(mut self, id: &str, source: Arc<dyn Source>) -> Self {
        let id = id.parse().expect("a valid source id");
        self.sources.push((id, source));
        self
    }

    /// Accepts only these bearer keys: pairs of a principal and its key.
    #[must_use]
    pub fn keys<const N: usize>(mut self, keys: [(&str, &str); N]) -> Self {
        let keys = keys.map(|(principal, secret)| BearerKey {
            principal,
            secret,
            admin: false,
        });
        self.identify = Arc::new(BearerKeys::new(keys));
        self
    }

    /// How tools and prompts are named at the endpoint of all sources.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut TransportLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    #[must_use]
    pub fn http(mut self, change: impl FnOnce(&mut HttpConfig)) -> Self {
        change(&mut self.http);
        self
    }

    /// Also serves the HTTP+SSE transport of 2024-11-05.
    #[must_use]
    pub fn legacy_sse(self) -> Self {
        self.http(|http| http.legacy_sse = true)
    }

    #[must_use]
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = entries;
        self
    }

    /// The timeout of a call.
    #[must_use]
    pub fn call_timeout(mut self, time: Duration) -> Self {
        self.call_timeout = time;
        self
    }

    /// Serves HTTP on a free port.
    pub async fn start(self) -> TestGateway {
        let http = self.http.clone();
        let parts = self.assemble().await;
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(any_port).await.expect("a port is free");
        let address = listener.address().expect("the socket has an address");
        let stop = CancellationToken::new();
        let serving = {
            let (transports, stop) = (Arc::clone(&parts.transports), stop.clone());
            tokio::spawn(async move { serve_http(&transports, listener, &http, stop).await })
        };
        TestGateway::new(parts, address, stop, serving)
    }

    /// Serves one client over stdio.
    pub async fn stdio(self) -> StdioClient {
        StdioClient::open(self.assemble().await, 1 << 20)
    }

    /// Serves one client over stdio, with pipes that buffer this many bytes.
    pub async fn stdio_with_buffer(self, bytes: usize) -> StdioClient {
        StdioClient::open(self.assemble().await, bytes)
    }

    async fn assemble(self) -> GatewayParts {
        let stats = Arc::new(CallStats::default());
        let config = GatewayConfig {
            page_size: self.page_size,
            naming: self.naming,
            instructions: "a gateway under test".to_owned(),
            ..GatewayConfig::default()
        };
        let layers: Vec<Arc<dyn Layer>> = vec![
            Arc::new(Observe::new(
                Arc::clone(&stats),
                Arc::default(),
                MetricLabels {
                    methods: Vec::new(),
                    error_kind: |_| "any",
                },
                &self.sources,
            )),
            Arc::new(Deadline {
                call_timeout: self.call_timeout,
                max_call_duration: self.call_timeout,
            }),
        ];
        let gateway = Arc::new(Gateway::new(config, self.sources, layers));
        let admission = Arc::new(Admission::new(&self.limits));
        let transports =
            Transports::new(Arc::clone(&gateway), self.identify, self.limits, admission);
        let transports = Arc::new(transports);
        let background = background(&gateway, &transports).await;
        GatewayParts {
            transports,
            stats,
            _background: background,
        }
    }
}

/// Starts the background tasks. When this returns, the change streams of the sources are polled, so
/// a test can send a change at once.
async fn background(gateway: &Arc<Gateway>, transports: &Arc<Transports>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (gateway, transports) = (Arc::clone(gateway), Arc::clone(transports));
    let mut run = Box::pin(async move { gateway.run().await });
    if futures_util::poll!(&mut run).is_pending() {
        tasks.spawn(run);
    }
    tasks.spawn(async move { transports.expire_idle_sessions().await });
    tasks
}
