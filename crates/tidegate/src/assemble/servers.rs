//! The servers of the configuration as sources, each behind layers of its own.

use std::cell::LazyCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tidegate_core::{Layer, LayeredSource, List, Seal, Source, SourceId};
use tidegate_policy::{Breaker, CallMetrics, Concurrency, Deadline, Retry};
use tidegate_upstream::{
    ChildGuard, Command, Endpoint, EraSetting, ListObserver, Remote, RemoteConfig, Sharing,
    TransportConfig, TrustStore, UnusableProxy,
};

use crate::cli::CHILD_GUARD;
use crate::config::{self, RemotePolicy, Server, Settings};

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
    let served = |(id, Server { remote, policy, .. }): (&String, &Server)| {
        let transport = transport(remote, settings, &trust)?;
        let mut config = remote_config(id, transport, policy, seal, settings);
        config.listed = listed(id, figures);
        let remote = Arc::new(Remote::new(config));
        let inner = Arc::clone(&remote) as Arc<dyn Source>;
        Ok(Served {
            id: id.parse()?,
            remote,
            source: Arc::new(LayeredSource::new(inner, layers(policy, settings))),
        })
    };
    servers.map(served).collect()
}

/// What a server is reached with.
pub(crate) fn remote_config(
    name: &str,
    transport: TransportConfig,
    policy: &RemotePolicy,
    seal: &Arc<Seal>,
    settings: &Settings,
) -> RemoteConfig {
    RemoteConfig {
        name: name.to_owned(),
        transport,
        speaks: match policy.era {
            config::Era::Auto => EraSetting::Auto,
            config::Era::Legacy => EraSetting::Legacy,
            config::Era::Modern => EraSetting::Modern,
        },
        connect_timeout: policy.connect_timeout,
        list_wait: settings.startup_wait,
        max_message_bytes: policy.max_message_bytes,
        sharing: match policy.sharing {
            config::Sharing::Principal => Sharing::Principal,
            config::Sharing::Shared => Sharing::All,
            config::Sharing::Call => Sharing::Call,
        },
        max_connections: policy.max_connections,
        parked_call_timeout: policy.parked_call_timeout,
        seal: Arc::clone(seal),
        listed: ListObserver::default(),
    }
}

/// Counts how long taking in a server's resources takes.
fn listed(source: &str, figures: &Arc<CallMetrics>) -> ListObserver {
    let (source, figures) = (source.to_owned(), Arc::clone(figures));
    ListObserver::new(move |list, took| {
        if list == List::Resources {
            figures.resource_list_loaded(&source, took);
        }
    })
}

/// A server's own layers, in the order a call meets them. What waits for its turn has not been
/// asked yet, so that is no failure of the server; what is late is one.
fn layers(policy: &RemotePolicy, settings: &Settings) -> Vec<Arc<dyn Layer>> {
    let call_timeout = policy.call_timeout.unwrap_or(settings.call_timeout);
    let max_call_duration = policy
        .max_call_duration
        .unwrap_or(settings.max_call_duration);
    let mut layers: Vec<Arc<dyn Layer>> = vec![Arc::new(Concurrency::new(
        policy.max_concurrent_calls,
        call_timeout,
    ))];
    if policy.failure_threshold > 0 {
        let failure_threshold = u32::try_from(policy.failure_threshold).unwrap_or(u32::MAX);
        layers.push(Arc::new(Breaker::new(
            failure_threshold,
            policy.open_duration,
        )));
    }
    layers.push(Arc::new(deadline(call_timeout, max_call_duration)));
    if policy.max_retries > 0 {
        let max_retries = u32::try_from(policy.max_retries).unwrap_or(u32::MAX);
        layers.push(Arc::new(Retry { max_retries }));
    }
    layers
}

/// The longer time holds in all: whoever gives a source more for one call means it.
pub(crate) fn deadline(call_timeout: Duration, max_call_duration: Duration) -> Deadline {
    Deadline {
        call_timeout,
        max_call_duration: max_call_duration.max(call_timeout),
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
        args: vec![CHILD_GUARD.to_owned(), "--".to_owned()],
    })
}

/// The endpoint at an address, through the proxy that is to be used for it.
pub(crate) fn endpoint(
    url: &http::Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    trust: &TrustStore,
    settings: &Settings,
) -> anyhow::Result<Endpoint> {
    let proxy = settings.proxies.for_url(url);
    let proxy = proxy.map_err(|UnusableProxy(variable)| {
        anyhow::anyhow!("the variable {variable} names no proxy that can be used")
    })?;
    Ok(Endpoint::new(url.clone(), headers, trust, proxy))
}
