//! Builds the gateway from its settings. Every source, layer and transport is in an explicit list
//! here.

mod metrics;
mod remotes;
mod seal;
mod sources;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tidegate_core::{
    CallStats, EndpointConfigs, Gateway, GatewayConfig, GatewayHandle, HealthCheck, Identify,
    Layer, NameConflictCheck, Source, SourceId,
};
use tidegate_policy::authn::{BearerKey, BearerKeys, NoAuthentication};
use tidegate_policy::{CallMetrics, Observe};
use tidegate_server::{Admission, Exposition, HttpConfig, Transports};
use tidegate_sources::gateway_tools::GatewayTools;
use tidegate_sources::system::System;
use tidegate_store::Store;
use tidegate_upstream::Remote;
use tokio::task::JoinSet;

use crate::config::Settings;
pub(crate) use remotes::{endpoint, remote_config};
use sources::BuiltSources;

const INSTRUCTIONS: &str = "Tidegate offers several MCP servers and sources of context at one \
    endpoint. Tools are named `source__tool`, prompts `source/prompt`; resources keep their own \
    URIs. Read `resource://system/health` for the health of the gateway and its sources.";

/// A gateway with its transports, ready to accept clients.
pub(crate) struct Assembly {
    pub(crate) transports: Arc<Transports>,
    pub(crate) http: HttpConfig,
    pub(crate) gateway: Arc<Gateway>,
    system: Arc<System>,
    built: BuiltSources,
    startup_wait: Duration,
}

impl Assembly {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let stats = Arc::new(CallStats::default());
        let call_metrics = Arc::new(CallMetrics::default());
        let admission =
            Admission::new(&settings.limits).on_rejected(metrics::count_rejections(&call_metrics));
        let admission = Arc::new(admission);
        let seal = Arc::new(seal::seal(settings));
        let gateway_handle = GatewayHandle::default();
        let built = sources::build(settings, &gateway_handle, &seal, &call_metrics)?;
        let mut sources = built.list.clone();
        let health_checks: Vec<Arc<dyn HealthCheck>> = vec![
            Arc::clone(&admission) as Arc<dyn HealthCheck>,
            Arc::new(NameConflictCheck::new(gateway_handle.clone())),
        ];
        let system = System::new(Arc::clone(&stats), sources.clone(), health_checks.clone());
        let system = Arc::new(system);
        sources.push((
            "system".parse()?,
            sources::with_deadline(Arc::clone(&system) as Arc<dyn Source>, settings),
        ));
        let config = GatewayConfig {
            page_size: settings.page_size,
            naming: settings.naming,
            instructions: INSTRUCTIONS.to_owned(),
            endpoints: endpoints(settings),
            gateway_tools: Some(Arc::new(GatewayTools::new(gateway_handle.clone()))),
            gateway_handle,
            seal,
        };
        let metrics = metrics::page(&call_metrics, sources.clone(), health_checks);
        let layers = layers(stats, call_metrics, &sources);
        let gateway = Arc::new(Gateway::new(config, sources, layers));
        let transports = Transports::new(
            Arc::clone(&gateway),
            identify(settings),
            settings.limits.clone(),
            admission,
        );
        Ok(Self {
            transports: Arc::new(transports),
            http: http(settings, metrics),
            gateway,
            system,
            built,
            startup_wait: settings.startup_wait,
        })
    }

    /// The configured sources, in their order.
    pub(crate) fn sources(&self) -> &[(SourceId, Arc<dyn Source>)] {
        &self.built.list
    }

    /// What has to be closed when the gateway stops.
    pub(crate) fn ending(&self) -> Ending {
        Ending {
            remotes: self.built.remotes.clone(),
            store: self.built.store.clone(),
        }
    }

    /// Starts the background tasks. Dropping the set stops them.
    pub(crate) fn background(&self) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (gateway, system) = (Arc::clone(&self.gateway), Arc::clone(&self.system));
        let transports = Arc::clone(&self.transports);
        for remote in &self.built.remotes {
            let remote = Arc::clone(remote);
            tasks.spawn(async move { remote.run().await });
        }
        for source in &self.built.built_in {
            tasks.spawn(source.run());
        }
        if let Some(store) = self.built.store.clone() {
            tasks.spawn(async move { store.run().await });
        }
        tasks.spawn(open_when_ready(
            Arc::clone(&self.gateway),
            self.startup_wait,
        ));
        tasks.spawn(async move { gateway.run().await });
        tasks.spawn(async move { system.watch().await });
        tasks.spawn(async move { transports.expire_idle_sessions().await });
        tasks
    }
}

/// What has to be closed after the background tasks have stopped.
pub(crate) struct Ending {
    /// They may have started programs.
    pub(crate) remotes: Vec<Arc<Remote>>,
    pub(crate) store: Option<Arc<Store>>,
}

/// Stops the background tasks, waits for the programs that were started, and closes the database.
pub(crate) async fn shut_down(mut background: JoinSet<()>, ending: Ending) {
    // First, or the supervisors would restart the programs.
    background.shutdown().await;
    join_all(ending.remotes.iter().map(|remote| remote.stop())).await;
    if let Some(store) = ending.store {
        store.close().await;
    }
}

/// Admits calls when every source is ready, or after this time without the missing sources.
pub(crate) async fn open_when_ready(gateway: Arc<Gateway>, max_wait: Duration) {
    tokio::time::timeout(max_wait, gateway.ready()).await.ok();
    gateway.open();
}

/// What `/mcp` and the endpoints of the sources show.
fn endpoints(settings: &Settings) -> EndpointConfigs {
    let of_sources = settings.sources.iter();
    let of_sources =
        of_sources.filter_map(|source| Some((source.id.clone(), source.endpoint.clone()?)));
    EndpointConfigs {
        all: settings.endpoint.clone(),
        sources: of_sources.collect(),
    }
}

/// The layers of all calls, outermost first. Each source adds its own.
fn layers(
    stats: Arc<CallStats>,
    call_metrics: Arc<CallMetrics>,
    sources: &[(SourceId, Arc<dyn Source>)],
) -> Vec<Arc<dyn Layer>> {
    let observe = Observe::new(stats, call_metrics, metrics::labels(), sources);
    vec![Arc::new(observe)]
}

/// How callers are identified.
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
        error_status: settings.error_status,
        metrics: Some(metrics),
    }
}
