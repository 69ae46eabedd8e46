//! Builds the sources that are remote MCP servers.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use tidegate_core::{List, Seal, SourceId};
use tidegate_policy::CallMetrics;
use tidegate_upstream::{
    CatalogFile, ChildGuard, Command, ConnectionSettings, Endpoint, ListObserver, ProgramTarget,
    Remote, RemoteConfig, RemoteSettings, ServerTarget, TransportConfig, TrustStore, UnusableProxy,
};

use crate::cli::CHILD_GUARD;
use crate::config::{Secret, Settings};

/// Builds remote sources with their shared state.
pub(super) struct RemoteBuilder<'a> {
    settings: &'a Settings,
    seal: &'a Arc<Seal>,
    metrics: &'a Arc<CallMetrics>,
    /// Loaded once, and only if there is a server with a URL.
    trust: LazyCell<TrustStore>,
}

impl<'a> RemoteBuilder<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        seal: &'a Arc<Seal>,
        metrics: &'a Arc<CallMetrics>,
    ) -> Self {
        Self {
            settings,
            seal,
            metrics,
            trust: LazyCell::new(TrustStore::system),
        }
    }

    pub(super) fn build(
        &self,
        id: &SourceId,
        remote: &RemoteSettings,
    ) -> anyhow::Result<Arc<Remote>> {
        let transport = self.transport(&remote.target)?;
        let (name, connection) = (id.as_str(), &remote.connection);
        let mut config = remote_config(name, transport, connection, self.seal, self.settings);
        config.saved_catalog = Some(self.catalog_file(name, &remote.target));
        config.listed = observe_lists(name, self.metrics);
        Ok(Arc::new(Remote::new(config)))
    }

    /// Where the catalog of a server is saved. The description contains no values of variables and no
    /// query, which may be secret.
    fn catalog_file(&self, name: &str, target: &ServerTarget) -> CatalogFile {
        let server = match target {
            ServerTarget::Program(program) => {
                let variables: Vec<_> = program.env.iter().map(|(name, _)| name).collect();
                let folder = program.cwd.as_deref().map(Path::display);
                format!("{} {variables:?} {folder:?}", program.written)
            }
            ServerTarget::Url { url, .. } => {
                let authority = url.authority().map_or("", http::uri::Authority::as_str);
                format!("{authority}{}", url.path())
            }
        };
        CatalogFile {
            path: self
                .settings
                .data_dir
                .join("catalogs")
                .join(format!("{name}.json")),
            server,
        }
    }

    fn transport(&self, target: &ServerTarget) -> anyhow::Result<TransportConfig> {
        match target {
            ServerTarget::Program(program) => Ok(TransportConfig::Stdio(command(program))),
            ServerTarget::Url { url, headers, ca } => {
                let own_trust = ca.as_ref().map(|ca| self.trust.with_only(ca));
                let trust = own_trust.as_ref().unwrap_or(&self.trust);
                let endpoint = endpoint(url, headers.clone(), trust, self.settings)?;
                Ok(TransportConfig::Http(endpoint))
            }
        }
    }
}

fn command(program: &ProgramTarget) -> Command {
    let exposed = |secrets: &[Secret]| secrets.iter().map(|one| one.expose().to_owned()).collect();
    let variables = program.env.iter();
    Command {
        written: program.written.clone(),
        program: program.command.expose().to_owned(),
        args: exposed(&program.args),
        env: variables
            .map(|(name, value)| (name.clone(), value.expose().to_owned()))
            .collect(),
        folder: program.cwd.clone(),
        child_guard: child_guard(),
        secrets: exposed(&program.secrets),
    }
}

/// The configuration of a connection to a server.
pub(crate) fn remote_config(
    name: &str,
    transport: TransportConfig,
    connection: &ConnectionSettings,
    seal: &Arc<Seal>,
    settings: &Settings,
) -> RemoteConfig {
    RemoteConfig {
        name: name.to_owned(),
        transport,
        era: connection.era,
        connect_timeout: connection.connect_timeout,
        list_wait: settings.startup_wait,
        max_message_bytes: connection.max_message_bytes,
        sharing: connection.sharing,
        max_processes: connection.max_processes,
        max_processes_per_principal: connection.max_processes_per_principal,
        idle_timeout: connection.idle_timeout,
        parked_call_timeout: connection.parked_call_timeout,
        seal: Arc::clone(seal),
        saved_catalog: None,
        listed: ListObserver::default(),
    }
}

/// Measures how long it takes to load the resource list of a server.
fn observe_lists(source: &str, metrics: &Arc<CallMetrics>) -> ListObserver {
    let (source, metrics) = (source.to_owned(), Arc::clone(metrics));
    ListObserver::new(move |list, duration| {
        if list == List::Resources {
            metrics.resource_list_loaded(&source, duration);
        }
    })
}

/// This program as the guard of the programs it starts. `/proc/self/exe` works even if the file of
/// the program has been replaced.
fn child_guard() -> Option<ChildGuard> {
    let program = PathBuf::from("/proc/self/exe");
    let is_supported = cfg!(target_os = "linux") && program.exists();
    is_supported.then(|| ChildGuard {
        program,
        name: "tidegate".to_owned(),
        args: vec![CHILD_GUARD.to_owned(), "--".to_owned()],
    })
}

/// The endpoint at a URL, through the proxy that the environment names for it.
pub(crate) fn endpoint(
    url: &http::Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    trust: &TrustStore,
    settings: &Settings,
) -> anyhow::Result<Endpoint> {
    let proxy = settings.proxies.for_url(url);
    let proxy = proxy.map_err(|UnusableProxy(variable)| {
        anyhow::anyhow!("{variable}: not a valid proxy, but {url} needs it")
    })?;
    Ok(Endpoint::new(url.clone(), headers, trust, proxy))
}
