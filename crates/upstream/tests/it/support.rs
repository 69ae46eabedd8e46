//! A gateway over one server, and the words of its clients.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::{Health, Layer, LayeredSource, Seal, Source};
use tidegate_testkit::fixture::{self, RunningFixture};
use tidegate_testkit::{Client, FakeSource, NEWEST_LEGACY, TestGateway, TestGatewayBuilder};
use tidegate_upstream::{
    Command, Endpoint, EraSetting, ListObserver, Remote, RemoteConfig, Sharing, TransportConfig,
    TrustStore,
};
use tokio::task::JoinHandle;

/// The name of the server.
pub(crate) const SERVER: &str = "server";

/// Longer than anything takes that happens at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// A gateway over one server.
pub(crate) struct Behind {
    gateway: TestGateway,
    remote: Arc<Remote>,
    running: JoinHandle<()>,
}

impl Behind {
    pub(crate) async fn of(fixture: &RunningFixture) -> Self {
        Self::with(fixture, Vec::new(), |_| {}).await
    }

    /// The same, with layers for this source alone and other settings.
    pub(crate) async fn with(
        fixture: &RunningFixture,
        layers: Vec<Arc<dyn Layer>>,
        change: impl FnOnce(&mut RemoteConfig),
    ) -> Self {
        Self::before(fixture, layers, change, |gateway| gateway).await
    }

    /// The same, before a program that is started for each of its clients instead.
    pub(crate) async fn on_a_pipe(unused: &RunningFixture, args: &[&str]) -> Self {
        Self::with(unused, Vec::new(), |config| {
            config.transport = TransportConfig::Stdio(Command {
                program: fixture::program().display().to_string(),
                args: args.iter().map(|&arg| arg.to_owned()).collect(),
                env: Vec::new(),
                folder: None,
                child_guard: None,
            });
        })
        .await
    }

    /// The same, where each must say who it is.
    pub(crate) async fn for_principals<const N: usize>(
        keys: [(&str, &str); N],
        fixture: &RunningFixture,
        change: impl FnOnce(&mut RemoteConfig),
    ) -> Self {
        Self::before(fixture, Vec::new(), change, |gateway| gateway.keys(keys)).await
    }

    /// The same, before a gateway that is built otherwise.
    pub(crate) async fn before(
        fixture: &RunningFixture,
        layers: Vec<Arc<dyn Layer>>,
        change: impl FnOnce(&mut RemoteConfig),
        build: impl FnOnce(TestGatewayBuilder) -> TestGatewayBuilder,
    ) -> Self {
        let url = fixture.url().parse().unwrap();
        let endpoint = Endpoint::new(url, Vec::new(), &TrustStore::system(), None);
        let mut config = RemoteConfig {
            name: SERVER.to_owned(),
            transport: TransportConfig::Http(endpoint),
            speaks: EraSetting::Auto,
            connect_timeout: PATIENCE,
            list_wait: PATIENCE,
            max_message_bytes: 1 << 20,
            sharing: Sharing::default(),
            max_connections: 16,
            parked_call_timeout: PATIENCE,
            seal: Arc::new(Seal::random()),
            listed: ListObserver::default(),
        };
        change(&mut config);
        let remote = Arc::new(Remote::new(config));
        let source = Arc::clone(&remote) as Arc<dyn Source>;
        let kept = Arc::clone(&remote);
        let running = tokio::spawn(async move { kept.run().await });
        let source = Arc::new(LayeredSource::new(source, layers));
        source.ready().await;
        let gateway = TestGateway::with(FakeSource::empty()).with_source(SERVER, source);
        Self {
            gateway: build(gateway).start().await,
            remote,
            running,
        }
    }

    /// A client at all there is.
    pub(crate) fn everywhere(&self) -> Client {
        self.gateway.client()
    }

    /// How the source is.
    pub(crate) fn health(&self) -> Health {
        self.remote.health()
    }

    /// Winds the source down, as a gateway does that is told to stop.
    pub(crate) async fn wind_down(&self) {
        self.running.abort();
        self.remote.stop().await;
    }

    /// A client at the server alone.
    pub(crate) fn client(&self) -> Client {
        self.gateway.client().at(&format!("/mcp/{SERVER}"))
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The names of the tools that a client of an era sees that can do this.
pub(crate) async fn tools(client: &Client, stateless: bool, capabilities: &Value) -> Vec<String> {
    let listed = if stateless {
        let key = "io.modelcontextprotocol/clientCapabilities";
        let list = client.modern("tools/list", json!({}));
        let list = list.meta(key, capabilities.clone());
        list.send().await.message().await
    } else {
        let session = client.initialize_with(NEWEST_LEGACY, capabilities).await;
        let listed = session.exchange("tools/list", json!({})).await;
        session.delete().await;
        listed
    };
    let tools = listed["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{listed}")).iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits for something that must come about.
pub(crate) async fn wait_until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let waited = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}
