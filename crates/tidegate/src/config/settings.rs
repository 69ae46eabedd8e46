//! The configuration as the program uses it: whole, checked, and with every default filled in.
//!
//! Knows nothing of how it was written.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_core::{Endpoints, Naming};
use tidegate_server::Limits;
use tidegate_upstream::Proxies;

use super::auth::Key;
use super::log::{LogFormat, LogLevel};
use super::secret::Secret;
use super::sources::Source;
use super::web::PublicUrl;

/// All settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The file they come from, if there is one.
    pub file: Option<PathBuf>,
    pub listen: SocketAddr,
    pub public_url: Option<PublicUrl>,
    /// `host` (any port) or `host:port`, in lower case; the host of `public_url` is among them,
    /// the address of `listen` is not.
    pub allowed_hosts: Vec<String>,
    /// `scheme://host[:port]` as browsers write it: lower case, no default port.
    pub allowed_origins: Vec<String>,
    /// Without any, everyone is `local`.
    pub keys: Vec<Key>,
    pub legacy_sse: bool,
    pub log: Log,
    pub limits: Limits,
    /// How long a call may take without progress.
    pub call_timeout: Duration,
    /// How long a call may take in total.
    pub max_call_duration: Duration,
    /// Entries on one page of a list.
    pub page_size: usize,
    /// How tools and prompts are called where all sources are seen at once.
    pub naming: Naming,
    /// What each endpoint shows of its tools.
    pub endpoints: Endpoints,
    /// How long a list waits for sources that have just been started.
    pub startup_wait: Duration,
    /// In the order of the file. `system` is not among them: it is always there.
    pub sources: Vec<Source>,
    /// What the sources that are elsewhere are reached through.
    pub proxies: Proxies,
    /// What seals what clients carry, the first, and what opens it, all. None: those of the data
    /// folder.
    pub seal_keys: Vec<Secret>,
    /// It need not exist yet.
    pub data_dir: PathBuf,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub level: LogLevel,
    pub format: LogFormat,
}
