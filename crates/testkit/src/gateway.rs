//! A gateway with its real transports, put together in one sentence.
//!
//! Must not know: how a client talks.

mod running;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{CallStats, Gateway, GatewayConfig, Identify, Layer, Naming, Source, SourceId};
use tidegate_policy::authn::{Key, Keys, Local};
use tidegate_policy::{Deadline, Observe, Words};
use tidegate_server::{Admission, HttpConfig, Limits, Listener, Transports, serve_http};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{FakeSource, Pipe};
pub(crate) use running::Parts;
pub use running::{Stopping, TestGateway};

/// The name of a gateway's first source.
const FIRST: &str = "fake";

/// A gateway that is being put together.
pub struct Builder {
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    identify: Arc<dyn Identify>,
    limits: Limits,
    http: HttpConfig,
    page_size: usize,
    naming: Naming,
    call_timeout: Duration,
}

impl TestGateway {
    /// A gateway over one source, called `fake`.
    pub fn with(source: FakeSource) -> Builder {
        Builder {
            sources: Vec::new(),
            identify: Arc::new(Local::default()),
            limits: Limits::default(),
            http: HttpConfig {
                loopback: true,
                ..HttpConfig::default()
            },
            page_size: 1000,
            naming: Naming::default(),
            call_timeout: Duration::from_secs(3600),
        }
        .and(FIRST, source)
    }
}

impl Builder {
    /// One more source.
    #[must_use]
    pub fn and(self, id: &str, source: FakeSource) -> Self {
        self.with_source(id, Arc::new(source))
    }

    /// One more source, which is a real one.
    #[must_use]
    pub fn with_source(mut self, id: &str, source: Arc<dyn Source>) -> Self {
        let id = id.parse().expect("the name of a source");
        self.sources.push((id, source));
        self
    }

    /// Only these bearer keys come in; pairs of a principal and its key.
    #[must_use]
    pub fn keys<const N: usize>(mut self, keys: [(&str, &str); N]) -> Self {
        let keys = keys.map(|(principal, secret)| Key {
            principal,
            secret,
            admin: false,
        });
        self.identify = Arc::new(Keys::new(keys));
        self
    }

    /// How tools and prompts are called at the endpoint of all sources.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    #[must_use]
    pub fn http(mut self, change: impl FnOnce(&mut HttpConfig)) -> Self {
        change(&mut self.http);
        self
    }

    /// The oldest transport is there too.
    #[must_use]
    pub fn legacy_sse(self) -> Self {
        self.http(|http| http.legacy_sse = true)
    }

    #[must_use]
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = entries;
        self
    }

    /// How long a call may take.
    #[must_use]
    pub fn call_timeout(mut self, time: Duration) -> Self {
        self.call_timeout = time;
        self
    }

    /// Opens the HTTP transport, on a port of its own.
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

    /// Opens the transport for one client on a pipe.
    pub async fn pipe(self) -> Pipe {
        Pipe::open(self.assemble().await, 1 << 20)
    }

    /// The same, over a pipe that holds only so many bytes.
    pub async fn narrow_pipe(self, bytes: usize) -> Pipe {
        Pipe::open(self.assemble().await, bytes)
    }

    async fn assemble(self) -> Parts {
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
                Words {
                    methods: Vec::new(),
                    kind: |_| "any",
                },
                &self.sources,
            )),
            Arc::new(Deadline {
                call_timeout: self.call_timeout,
                max_call_duration: self.call_timeout,
            }),
        ];
        let gateway = Arc::new(Gateway::new(config, self.sources, layers));
        let load = Arc::new(Admission::new(&self.limits));
        let transports = Transports::new(Arc::clone(&gateway), self.identify, self.limits, load);
        let transports = Arc::new(transports);
        let background = background(&gateway, &transports).await;
        Parts {
            transports,
            stats,
            _background: background,
        }
    }
}

/// What goes on beside the calls. The sources are listened to when this returns, so that a test can
/// change something at once.
async fn background(gateway: &Arc<Gateway>, transports: &Arc<Transports>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let (gateway, transports) = (Arc::clone(gateway), Arc::clone(transports));
    let mut run = Box::pin(async move { gateway.run().await });
    if futures_util::poll!(&mut run).is_pending() {
        tasks.spawn(run);
    }
    tasks.spawn(async move { transports.sweep().await });
    tasks
}
