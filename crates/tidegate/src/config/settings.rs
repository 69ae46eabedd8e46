//! The settings of the program: complete, checked, with all defaults. Must not know how they were
//! written.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_config::Secret;
use tidegate_core::{EndpointConfig, Naming};
use tidegate_policy::CallTimeouts;
use tidegate_server::{ErrorStatus, TransportLimits};
use tidegate_upstream::Proxies;

use super::auth::Key;
use super::log::{LogFormat, LogLevel};
use super::sources::ConfiguredSource;
use super::web::PublicUrl;

/// All settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file they come from, if there is one.
    pub file: Option<PathBuf>,
    pub listen: SocketAddr,
    pub public_url: Option<PublicUrl>,
    /// `host` (any port) or `host:port`, in lower case. Includes the host of `public_url`, but not
    /// the address of `listen`.
    pub allowed_hosts: Vec<String>,
    /// `scheme://host[:port]` as browsers write it: lower case, no default port.
    pub allowed_origins: Vec<String>,
    /// If empty, every caller is the principal `local`.
    pub keys: Vec<Key>,
    pub legacy_sse: bool,
    /// Which status errors have at the MCP endpoints.
    pub error_status: ErrorStatus,
    pub log: Log,
    /// The limits of the transports.
    pub limits: TransportLimits,
    pub call_timeouts: CallTimeouts,
    /// Entries on one page of a list.
    pub page_size: usize,
    /// How tools and prompts are named at `/mcp`.
    pub naming: Naming,
    /// Which tools `/mcp` lists.
    pub endpoint: EndpointConfig,
    /// How long the first requests wait for sources that are still starting.
    pub startup_wait: Duration,
    /// In the order of the file, without `system`.
    pub sources: Vec<ConfiguredSource>,
    /// Whether the sources are the defaults, because the configuration has no sources.
    pub default_sources: bool,
    /// The proxies that remote servers are reached through.
    pub proxies: Proxies,
    /// The first encrypts, all decrypt. If empty, keys are stored in the data folder.
    pub seal_keys: Vec<Secret>,
    /// May not exist yet.
    pub data_dir: PathBuf,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
}

impl Settings {
    /// The ids of all sources, in the order of lists: `system` comes last.
    pub fn source_ids(&self) -> Vec<&str> {
        let configured = self.sources.iter().map(|source| source.id.as_str());
        configured.chain(["system"]).collect()
    }

    /// The line about the sources that the program logs when it starts.
    pub fn sources_summary(&self) -> String {
        let configured = self
            .sources
            .iter()
            .map(|source| match &source.original_name {
                Some(name) => format!("{} (`{name}`)", source.id),
                None => source.id.to_string(),
            });
        let ids: Vec<_> = ["system".to_owned()]
            .into_iter()
            .chain(configured)
            .collect();
        let ids = ids.join(", ");
        match self.default_sources {
            true => format!("sources: {ids} (defaults: no sources configured)"),
            false => format!("sources: {ids}"),
        }
    }
}
