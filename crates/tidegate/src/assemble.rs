//! Puts the gateway together from its settings. What is not in a list here is not in the gateway.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use tidegate_core::{Gateway, GatewayConfig, Identify, Layer, Probe, Source, SourceId, Stats};
use tidegate_policy::authn::{Keys, Local};
use tidegate_policy::{Deadline, Observe};
use tidegate_server::{Doors, HttpConfig, Load};
use tidegate_sources::system::System;
use tidegate_upstream::{Command, Remote, RemoteConfig, Transport};
use tokio::task::JoinSet;

use crate::config::{self, Settings};

const INSTRUCTIONS: &str = "Tidegate puts several MCP servers and sources of context behind one \
    endpoint. Tools are named `source__tool`, prompts `source/prompt`; resources keep their own \
    URIs. Read `resource://system/health` to see how the gateway and its sources are.";

/// How long a server may take to say how it speaks.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(60);

/// Bytes of one message of a server.
pub(crate) const MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// A gateway with its doors, ready to be opened.
pub(crate) struct Assembly {
    pub(crate) doors: Arc<Doors>,
    pub(crate) http: HttpConfig,
    pub(crate) gateway: Arc<Gateway>,
    system: Arc<System>,
    pub(crate) remotes: Vec<(SourceId, Arc<Remote>)>,
    startup_wait: Duration,
}

impl Assembly {
    pub(crate) fn new(settings: &Settings) -> anyhow::Result<Self> {
        let stats = Arc::new(Stats::default());
        let load = Arc::new(Load::new(&settings.limits));
        let remotes = remotes(settings)?;
        let mut sources: Vec<(SourceId, Arc<dyn Source>)> = remotes
            .iter()
            .map(|(id, remote)| (id.clone(), Arc::clone(remote) as Arc<dyn Source>))
            .collect();
        let probes = vec![Arc::clone(&load) as Arc<dyn Probe>];
        let system = Arc::new(System::new(Arc::clone(&stats), sources.clone(), probes));
        sources.push(("system".parse()?, Arc::clone(&system) as Arc<dyn Source>));
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
            remotes,
            startup_wait: settings.startup_wait,
        })
    }

    /// What goes on beside the calls. Dropping the set ends it.
    pub(crate) fn background(&self) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let (gateway, system) = (Arc::clone(&self.gateway), Arc::clone(&self.system));
        let doors = Arc::clone(&self.doors);
        for (_, remote) in &self.remotes {
            let remote = Arc::clone(remote);
            tasks.spawn(async move { remote.run().await });
        }
        tasks.spawn(open_in(Arc::clone(&self.gateway), self.startup_wait));
        tasks.spawn(async move { gateway.run().await });
        tasks.spawn(async move { system.watch().await });
        tasks.spawn(async move { doors.sweep().await });
        tasks
    }
}

/// Lets calls in when every source is there, or after this time: then clients are served what
/// there is.
pub(crate) async fn open_in(gateway: Arc<Gateway>, wait: Duration) {
    tokio::time::timeout(wait, gateway.ready()).await.ok();
    gateway.open();
}

/// The servers of the configuration, in its order.
fn remotes(settings: &Settings) -> anyhow::Result<Vec<(SourceId, Arc<Remote>)>> {
    let remote = |source: &config::Source| {
        let config::SourceKind::Remote(remote) = &source.kind;
        let config = RemoteConfig {
            name: source.id.clone(),
            transport: transport(remote)?,
            connect_time: CONNECT_TIME,
            message_bytes: MESSAGE_BYTES,
        };
        Ok((source.id.parse()?, Arc::new(Remote::new(config))))
    };
    settings.sources.iter().map(remote).collect()
}

fn transport(remote: &config::Remote) -> anyhow::Result<Transport> {
    Ok(match remote {
        config::Remote::Program {
            command,
            args,
            env,
            cwd,
        } => Transport::Stdio(Command {
            program: command.clone(),
            args: args.clone(),
            env: env
                .iter()
                .map(|(name, one)| (name.clone(), one.value.expose().to_owned()))
                .collect(),
            folder: cwd.clone(),
        }),
        config::Remote::Address { url, headers } => {
            let header = |(name, one): &(String, config::Setting)| {
                let mut value = HeaderValue::try_from(one.value.expose())?;
                value.set_sensitive(true);
                Ok((HeaderName::try_from(name)?, value))
            };
            let headers = headers.iter().map(header).collect::<anyhow::Result<_>>()?;
            Transport::Http {
                url: url.clone(),
                headers,
            }
        }
    })
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
