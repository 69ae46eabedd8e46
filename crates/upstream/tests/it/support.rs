//! A test gateway with one remote server.

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

/// The id of the source.
pub(crate) const SERVER: &str = "server";

/// Longer than anything takes, so that a test that hangs fails.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// A gateway with one remote server.
pub(crate) struct RemoteGateway {
    gateway: TestGateway,
    remote: Arc<Remote>,
    running: JoinHandle<()>,
}

impl RemoteGateway {
    pub(crate) async fn over(fixture: &RunningFixture) -> Self {
        Box::pin(Self::with(fixture, Vec::new(), |_| {})).await
    }

    /// With layers for this source alone and a changed configuration.
    pub(crate) async fn with(
        fixture: &RunningFixture,
        layers: Vec<Arc<dyn Layer>>,
        change: impl FnOnce(&mut RemoteConfig),
    ) -> Self {
        Box::pin(Self::build(fixture, layers, change, |gateway| gateway)).await
    }

    /// Over stdio: the fixture runs as a child process with these arguments. Nothing connects to
    /// `unused`.
    pub(crate) async fn over_stdio(unused: &RunningFixture, args: &[&str]) -> Self {
        Self::with(unused, Vec::new(), |config| {
            config.transport = stdio(&fixture::program().display().to_string(), args);
        })
        .await
    }

    /// With an API key for each principal.
    pub(crate) async fn for_principals<const N: usize>(
        keys: [(&str, &str); N],
        fixture: &RunningFixture,
        change: impl FnOnce(&mut RemoteConfig),
    ) -> Self {
        Box::pin(Self::build(fixture, Vec::new(), change, |gateway| {
            gateway.keys(keys)
        }))
        .await
    }

    /// With everything else that the gateway builder can change.
    pub(crate) async fn build(
        fixture: &RunningFixture,
        layers: Vec<Arc<dyn Layer>>,
        change: impl FnOnce(&mut RemoteConfig),
        configure: impl FnOnce(TestGatewayBuilder) -> TestGatewayBuilder,
    ) -> Self {
        let url = fixture.url().parse().unwrap();
        let endpoint = Endpoint::new(url, Vec::new(), &TrustStore::system(), None);
        let mut config = RemoteConfig {
            name: SERVER.to_owned(),
            transport: TransportConfig::Http(endpoint),
            era: EraSetting::Auto,
            connect_timeout: TIMEOUT,
            list_wait: TIMEOUT,
            max_message_bytes: 1 << 20,
            sharing: Sharing::default(),
            max_processes: 64,
            max_processes_per_principal: 16,
            idle_timeout: Duration::from_secs(300),
            parked_call_timeout: TIMEOUT,
            seal: Arc::new(Seal::generate()),
            saved_catalog: None,
            listed: ListObserver::default(),
        };
        change(&mut config);
        let remote = Arc::new(Remote::new(config));
        let source = Arc::clone(&remote) as Arc<dyn Source>;
        let supervised = Arc::clone(&remote);
        let running = tokio::spawn(async move { supervised.run().await });
        let source = Arc::new(LayeredSource::new(source, layers));
        source.ready().await;
        let gateway = TestGateway::with(FakeSource::empty()).with_source(SERVER, source);
        Self {
            gateway: configure(gateway).start().await,
            remote,
            running,
        }
    }

    /// A client of the endpoint with all sources.
    pub(crate) fn client_of_all_sources(&self) -> Client {
        self.gateway.client()
    }

    /// The health of the source.
    pub(crate) fn health(&self) -> Health {
        self.remote.health()
    }

    /// The open processes of each principal.
    pub(crate) fn connections(&self) -> Vec<(String, u64)> {
        self.remote.connections()
    }

    /// Stops the source, as a gateway does on shutdown.
    pub(crate) async fn stop(&self) {
        self.running.abort();
        self.remote.stop().await;
    }

    /// A client of the endpoint with the server alone.
    pub(crate) fn client(&self) -> Client {
        self.gateway.client().at(&format!("/mcp/{SERVER}"))
    }
}

impl Drop for RemoteGateway {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// A server that is a process.
pub(crate) fn stdio(program: &str, args: &[&str]) -> TransportConfig {
    TransportConfig::Stdio(Command::new(
        program,
        args.iter().map(|&arg| arg.to_owned()).collect(),
    ))
}

/// The names of the tools that a client with these capabilities sees, in the modern or legacy era.
pub(crate) async fn tools(client: &Client, stateless: bool, capabilities: &Value) -> Vec<String> {
    let listed = if stateless {
        let key = "io.modelcontextprotocol/clientCapabilities";
        let list = client.modern("tools/list", json!({}));
        let list = list.meta(key, capabilities.clone());
        Box::pin(list.message()).await
    } else {
        let session = Box::pin(client.initialize_with(NEWEST_LEGACY, capabilities)).await;
        let listed = Box::pin(session.exchange("tools/list", json!({}))).await;
        Box::pin(session.delete()).await;
        listed
    };
    let tools = listed["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("{listed}")).iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}
