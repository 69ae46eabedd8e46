//! Puts the gateway together from its settings. What is not in a list here is not in the gateway.

use std::sync::Arc;

use tidegate_core::{Gateway, GatewayConfig, Identify, Layer, Probe, Source, SourceId, Stats};
use tidegate_policy::authn::{Keys, Local};
use tidegate_policy::{Deadline, Observe};
use tidegate_server::{Doors, HttpConfig, Load};
use tidegate_sources::system::System;
use tokio::task::JoinSet;

use crate::config::Settings;

const INSTRUCTIONS: &str = "Tidegate puts several MCP servers and sources of context behind one \
    endpoint. Tools are named `source__tool`, prompts `source/prompt`; resources keep their own \
    URIs. Read `resource://system/health` to see how the gateway and its sources are.";

/// A gateway with its doors, ready to be opened.
pub(crate) struct Assembly {
    pub(crate) doors: Arc<Doors>,
    pub(crate) http: HttpConfig,
    gateway: Arc<Gateway>,
    system: Arc<System>,
}

impl Assembly {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let stats = Arc::new(Stats::default());
        let load = Arc::new(Load::new(&settings.limits));
        let probes = vec![Arc::clone(&load) as Arc<dyn Probe>];
        let system = Arc::new(System::new(Arc::clone(&stats), Vec::new(), probes));
        let sources = vec![(
            "system".parse::<SourceId>()?,
            Arc::clone(&system) as Arc<dyn Source>,
        )];
        let config = GatewayConfig {
            page_size: settings.page_size,
            instructions: INSTRUCTIONS.to_owned(),
        };
        let gateway = Arc::new(Gateway::new(config, sources, layers(settings, stats)));
        let doors = Doors::new(
            Arc::clone(&gateway),
            identify(settings),
            settings.limits.clone(),
            load,
        );
        Ok(Self {
            doors: Arc::new(doors),
            http: http(settings),
            gateway,
            system,
        })
    }

    /// What goes on beside the calls. Dropping the set ends it.
    pub(crate) fn background(&self) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (gateway, system) = (Arc::clone(&self.gateway), Arc::clone(&self.system));
        let doors = Arc::clone(&self.doors);
        tasks.spawn(async move { gateway.run().await });
        tasks.spawn(async move { system.watch().await });
        tasks.spawn(async move { doors.sweep().await });
        tasks
    }
}

/// The layers, in the order a call meets them.
fn layers(settings: &Settings, stats: Arc<Stats>) -> Vec<Arc<dyn Layer>> {
    vec![
        Arc::new(Observe { stats }),
        Arc::new(Deadline {
            between_events: settings.call_time,
            in_all: settings.call_time_max,
        }),
    ]
}

/// The credentials that are taken.
fn identify(settings: &Settings) -> Arc<dyn Identify> {
    if settings.keys.is_empty() {
        return Arc::new(Local::default());
    }
    let keys = settings
        .keys
        .iter()
        .map(|key| (key.principal.as_str(), key.secret.expose()));
    Arc::new(Keys::new(keys))
}

fn http(settings: &Settings) -> HttpConfig {
    HttpConfig {
        loopback: settings.listen.ip().is_loopback(),
        hosts: settings.allowed_hosts.clone(),
        origins: settings.allowed_origins.clone(),
        legacy_sse: settings.legacy_sse,
    }
}
