//! Puts the gateway together from its settings. What is not in a list here is not in the gateway.

mod built_in;
mod metrics;
mod seal;
mod servers;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tidegate_core::{
    CallStats, Gateway, GatewayConfig, GatewayHandle, HealthCheck, Identify, Layer,
    NameConflictCheck, Source, SourceId,
};
use tidegate_policy::authn::{BearerKey, BearerKeys, NoAuthentication};
use tidegate_policy::{CallMetrics, Observe};
use tidegate_server::{Admission, Exposition, HttpConfig, Transports};
use tidegate_sources::bridge::BridgeTools;
use tidegate_sources::system::System;
use tidegate_store::Store;
use tidegate_upstream::Remote;
use tokio::task::JoinSet;

use crate::config::Settings;
use built_in::BuiltIn;
pub(crate) use servers::{Served, deadline, endpoint, remote_config};

const INSTRUCTIONS: &str = "Tidegate puts several MCP servers and sources of context behind one \
    endpoint. Tools are named `source__tool`, prompts `source/prompt`; resources keep their own \
    URIs. Read `resource://system/health` to see how the gateway and its sources are.";

/// A gateway with its transports, ready to be opened.
pub(crate) struct Assembly {
    pub(crate) transports: Arc<Transports>,
    pub(crate) http: HttpConfig,
    pub(crate) gateway: Arc<Gateway>,
    system: Arc<System>,
    servers: Vec<Served>,
    built_in: Vec<BuiltIn>,
    /// Where some source keeps something.
    store: Option<Arc<Store>>,
    /// The sources of the configuration.
    pub(crate) sources: Vec<(SourceId, Arc<dyn Source>)>,
    startup_wait: Duration,
}

impl Assembly {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let stats = Arc::new(CallStats::default());
        let figures = Arc::new(CallMetrics::default());
        let load =
            Admission::new(&settings.limits).on_rejected(metrics::count_rejections(&figures));
        let load = Arc::new(load);
        let seal = Arc::new(seal::seal(settings));
        let servers = servers::servers(settings, &seal, &figures)?;
        let gateway_handle = GatewayHandle::default();
        let store = Arc::new(Store::in_folder(&settings.data_dir));
        let built_in = built_in::sources(settings, &gateway_handle, &store)?;
        let store = built_in::keep_something(settings).then_some(store);
        let mut sources = in_order(&servers, &built_in, settings);
        let configured = sources.clone();
        let probes: Vec<Arc<dyn HealthCheck>> = vec![
            Arc::clone(&load) as Arc<dyn HealthCheck>,
            Arc::new(NameConflictCheck::new(gateway_handle.clone())),
        ];
        let system = System::new(Arc::clone(&stats), sources.clone(), probes.clone());
        let system = Arc::new(system);
        sources.push((
            "system".parse()?,
            built_in::timed(Arc::clone(&system), settings),
        ));
        let config = GatewayConfig {
            page_size: settings.page_size,
            naming: settings.naming,
            instructions: INSTRUCTIONS.to_owned(),
            endpoints: settings.endpoints.clone(),
            gateway_tools: Some(Arc::new(BridgeTools::new(gateway_handle.clone()))),
            gateway_handle,
            seal,
        };
        let metrics = metrics::page(&figures, sources.clone(), probes);
        let layers = layers(stats, figures, &sources);
        let gateway = Arc::new(Gateway::new(config, sources, layers));
        let transports = Transports::new(
            Arc::clone(&gateway),
            identify(settings),
            settings.limits.clone(),
            load,
        );
        Ok(Self {
            transports: Arc::new(transports),
            http: http(settings, metrics),
            gateway,
            system,
            servers,
            built_in,
            store,
            sources: configured,
            startup_wait: settings.startup_wait,
        })
    }

    /// What does not end by being dropped.
    pub(crate) fn ending(&self) -> Ending {
        let servers = self.servers.iter();
        Ending {
            remotes: servers.map(|served| Arc::clone(&served.remote)).collect(),
            store: self.store.clone(),
        }
    }

    /// What goes on beside the calls. Dropping the set ends it.
    pub(crate) fn background(&self) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (gateway, system) = (Arc::clone(&self.gateway), Arc::clone(&self.system));
        let transports = Arc::clone(&self.transports);
        for served in &self.servers {
            let remote = Arc::clone(&served.remote);
            tasks.spawn(async move { remote.run().await });
        }
        for own in &self.built_in {
            tasks.spawn((own.run)());
        }
        if let Some(store) = self.store.clone() {
            tasks.spawn(async move { store.run().await });
        }
        tasks.spawn(open_in(Arc::clone(&self.gateway), self.startup_wait));
        tasks.spawn(async move { gateway.run().await });
        tasks.spawn(async move { system.watch().await });
        tasks.spawn(async move { transports.expire_idle_sessions().await });
        tasks
    }
}

/// What has to be ended, beside what goes on beside the calls.
pub(crate) struct Ending {
    /// They may have started programs.
    pub(crate) remotes: Vec<Arc<Remote>>,
    pub(crate) store: Option<Arc<Store>>,
}

/// Ends what goes on beside the calls, waits for the programs that were started, and lets go of
/// what is kept.
pub(crate) async fn wind_down(mut background: JoinSet<()>, ending: Ending) {
    // First, or the programs would be started again.
    background.shutdown().await;
    join_all(ending.remotes.iter().map(|remote| remote.stop())).await;
    if let Some(store) = ending.store {
        store.close().await;
    }
}

/// Lets calls in when every source is there, or after this time: then clients are served what
/// there is.
pub(crate) async fn open_in(gateway: Arc<Gateway>, wait: Duration) {
    tokio::time::timeout(wait, gateway.ready()).await.ok();
    gateway.open();
}

/// The sources in the order of the configuration, which decides every collision.
fn in_order(
    servers: &[Served],
    built_in: &[BuiltIn],
    settings: &Settings,
) -> Vec<(SourceId, Arc<dyn Source>)> {
    let servers = servers.iter().map(|one| (&one.id, &one.source));
    let built_in = built_in.iter().map(|one| (&one.id, &one.source));
    let all = servers.chain(built_in);
    let mut all: Vec<_> = all
        .map(|(id, source)| (id.clone(), Arc::clone(source)))
        .collect();
    let place = |id: &SourceId| {
        settings
            .sources
            .iter()
            .position(|one| one.id == id.as_str())
    };
    all.sort_by_key(|(id, _)| place(id));
    all
}

/// The layers of all calls, in the order a call meets them. Each source has more of its own.
fn layers(
    stats: Arc<CallStats>,
    figures: Arc<CallMetrics>,
    sources: &[(SourceId, Arc<dyn Source>)],
) -> Vec<Arc<dyn Layer>> {
    let observe = Observe::new(stats, figures, metrics::labels(), sources);
    vec![Arc::new(observe)]
}

/// The credentials that are taken.
fn identify(settings: &Settings) -> Arc<dyn Identify> {
    if settings.keys.is_empty() {
        return Arc::new(NoAuthentication::default());
    }
    let keys = settings.keys.iter().map(|key| BearerKey {
        principal: &key.principal,
        secret: key.secret.expose(),
        admin: key.admin,
    });
    Arc::new(BearerKeys::new(keys))
}

fn http(settings: &Settings, metrics: Exposition) -> HttpConfig {
    HttpConfig {
        loopback: settings.listen.ip().is_loopback(),
        allowed_hosts: settings.allowed_hosts.clone(),
        allowed_origins: settings.allowed_origins.clone(),
        legacy_sse: settings.legacy_sse,
        metrics: Some(metrics),
    }
}
