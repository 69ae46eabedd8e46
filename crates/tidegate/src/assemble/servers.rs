//! The servers of the configuration as sources, each behind layers of its own.

use std::cell::LazyCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tidegate_core::{Layer, Layered, List, Seal, Source, SourceId};
use tidegate_policy::{Breaker, CallMetrics, Concurrency, Deadline, Retry};
use tidegate_upstream::{
    ChildGuard, Command, Endpoint, EraSetting, ListObserver, Remote, RemoteConfig, Sharing,
    TransportConfig, TrustStore, UnusableProxy,
};

use crate::cli::KEEP;
use crate::config::{self, Conduct, Server, Settings};

/// A server of ours.
pub(crate) struct Served {
    pub(crate) id: SourceId,
    /// What keeps it connected.
    pub(crate) remote: Arc<Remote>,
    /// What calls go to.
    pub(super) source: Arc<dyn Source>,
}

/// The servers, in the order of the configuration.
pub(super) fn servers(
    settings: &Settings,
    seal: &Arc<Seal>,
    figures: &Arc<CallMetrics>,
) -> anyhow::Result<Vec<Served>> {
    // Read once, and only where there is a server to be reached.
    let trust: LazyCell<TrustStore> = LazyCell::new(TrustStore::system);
    let servers = settings.sources.iter();
    let servers = servers.filter_map(|source| match &source.kind {
        config::SourceKind::Remote(server) => Some((&source.id, server)),
        _ => None,
    });
    let served = |(
        id,
        Server {
            remote, conduct, ..
        },
    ): (&String, &Server)| {
        let transport = transport(remote, settings, &trust)?;
        let mut config = remote_config(id, transport, conduct, seal, settings);
        config.listed = listed(id, figures);
        let remote = Arc::new(Remote::new(config));
        let inner = Arc::clone(&remote) as Arc<dyn Source>;
        Ok(Served {
            id: id.parse()?,
            remote,
            source: Arc::new(Layered::new(inner, layers(conduct, settings))),
        })
    };
    servers.map(served).collect()
}

/// What a server is reached with.
pub(crate) fn remote_config(
    name: &str,
    transport: TransportConfig,
    conduct: &Conduct,
    seal: &Arc<Seal>,
    settings: &Settings,
) -> RemoteConfig {
    RemoteConfig {
        name: name.to_owned(),
        transport,
        speaks: match conduct.era {
            config::Era::Auto => EraSetting::Auto,
            config::Era::Legacy => EraSetting::Legacy,
            config::Era::Modern => EraSetting::Modern,
        },
        connect_time: conduct.connect_time,
        list_wait: settings.startup_wait,
        message_bytes: conduct.message_bytes,
        sharing: match conduct.sharing {
            config::Sharing::Principal => Sharing::Principal,
            config::Sharing::Shared => Sharing::All,
            config::Sharing::Call => Sharing::Call,
        },
        links: conduct.links,
        park_time: conduct.park_time,
        seal: Arc::clone(seal),
        listed: ListObserver::default(),
    }
}

/// Counts how long taking in a server's resources takes.
fn listed(source: &str, figures: &Arc<CallMetrics>) -> ListObserver {
    let (source, figures) = (source.to_owned(), Arc::clone(figures));
    ListObserver::new(move |list, took| {
        if list == List::Resources {
            figures.took_in_resources(&source, took);
        }
    })
}

/// A server's own layers, in the order a call meets them. What waits for its turn has not been
/// asked yet, so that is no failure of the server; what is late is one.
fn layers(conduct: &Conduct, settings: &Settings) -> Vec<Arc<dyn Layer>> {
    let between_events = conduct.call_time.unwrap_or(settings.call_time);
    let in_all = conduct.call_time_max.unwrap_or(settings.call_time_max);
    let mut layers: Vec<Arc<dyn Layer>> =
        vec![Arc::new(Concurrency::new(conduct.calls, between_events))];
    if conduct.failures > 0 {
        let failures = u32::try_from(conduct.failures).unwrap_or(u32::MAX);
        layers.push(Arc::new(Breaker::new(failures, conduct.pause)));
    }
    layers.push(Arc::new(deadline(between_events, in_all)));
    if conduct.retries > 0 {
        let times = u32::try_from(conduct.retries).unwrap_or(u32::MAX);
        layers.push(Arc::new(Retry { times }));
    }
    layers
}

/// The longer time holds in all: whoever gives a source more for one call means it.
pub(crate) fn deadline(between_events: Duration, in_all: Duration) -> Deadline {
    Deadline {
        between_events,
        in_all: in_all.max(between_events),
    }
}

fn transport(
    remote: &config::Remote,
    settings: &Settings,
    trust: &LazyCell<TrustStore>,
) -> anyhow::Result<TransportConfig> {
    Ok(match remote {
        config::Remote::Program {
            command,
            args,
            env,
            cwd,
        } => TransportConfig::Stdio(Command {
            program: command.clone(),
            args: args.clone(),
            env: env
                .iter()
                .map(|(name, one)| (name.clone(), one.value.expose().to_owned()))
                .collect(),
            folder: cwd.clone(),
            child_guard: child_guard(),
        }),
        config::Remote::Address { url, headers, ca } => {
            let header = |(name, one): &(String, config::Setting)| {
                let mut value = HeaderValue::try_from(one.value.expose())?;
                value.set_sensitive(true);
                Ok((HeaderName::try_from(name)?, value))
            };
            let headers = headers.iter().map(header).collect::<anyhow::Result<_>>()?;
            let only = ca.as_ref().and_then(|file| file.authorities.as_ref());
            let narrowed = only.map(|authorities| trust.with_only(authorities));
            let trust = narrowed.as_ref().unwrap_or(trust);
            TransportConfig::Http(endpoint(url, headers, trust, settings)?)
        }
    })
}

/// This very program, whatever has become of its file, keeps the programs that it starts.
fn child_guard() -> Option<ChildGuard> {
    let program = PathBuf::from("/proc/self/exe");
    let can_keep = cfg!(target_os = "linux") && program.exists();
    can_keep.then(|| ChildGuard {
        program,
        name: "tidegate".to_owned(),
        args: vec![KEEP.to_owned(), "--".to_owned()],
    })
}

/// The endpoint at an address, through the proxy that is to be used for it.
pub(crate) fn endpoint(
    url: &http::Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    trust: &TrustStore,
    settings: &Settings,
) -> anyhow::Result<Endpoint> {
    let proxy = settings.proxies.on_the_way_to(url);
    let proxy = proxy.map_err(|UnusableProxy(variable)| {
        anyhow::anyhow!("the variable {variable} names no proxy that can be used")
    })?;
    Ok(Endpoint::new(url.clone(), headers, trust, proxy))
}
