//! The configuration of a remote source.

mod section;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_config::plain_enum;
use tidegate_core::{List, Seal};

use crate::transport::http::Endpoint;
use crate::transport::stdio::Command;
pub use section::{ConnectionSettings, ProgramTarget, RemoteSection, RemoteSettings, ServerTarget};

/// The configuration of one server.
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The name of the source, for logs and messages.
    pub name: String,
    pub transport: TransportConfig,
    /// The era of the server, or automatic detection.
    pub era: EraSetting,
    /// Limit of the handshake, and of each page of a list.
    pub connect_timeout: Duration,
    /// How long a list request waits for a server that is still starting.
    pub list_wait: Duration,
    /// Largest message of the server.
    pub max_message_bytes: usize,
    /// Which calls share a session or process.
    pub sharing: Sharing,
    /// Processes or sessions of all clients, and of one principal.
    pub max_processes: usize,
    pub max_processes_per_principal: usize,
    /// How long the process or session of a client is kept after its last call.
    pub idle_timeout: Duration,
    /// How long a parked call waits for its client to retry.
    pub parked_call_timeout: Duration,
    /// Encrypts the state that clients carry.
    pub seal: Arc<Seal>,
    /// Where the catalog is saved, if it is.
    pub saved_catalog: Option<CatalogFile>,
    /// Called with the duration of each list.
    pub listed: ListObserver,
}

/// A callback for the time it took to load all pages of a list. Does nothing by default.
#[derive(Clone)]
pub struct ListObserver(Arc<dyn Fn(List, Duration) + Send + Sync>);

impl ListObserver {
    pub fn new(observe: impl Fn(List, Duration) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }

    pub(crate) fn observe(&self, list: List, duration: Duration) {
        (self.0)(list, duration);
    }
}

impl Default for ListObserver {
    fn default() -> Self {
        Self::new(|_, _| {})
    }
}

impl fmt::Debug for ListObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListObserver")
    }
}

/// Where the catalog of a server is saved.
#[derive(Clone, Debug)]
pub struct CatalogFile {
    pub path: PathBuf,
    /// Describes the server. What was saved for another server is ignored. Contains no secrets.
    pub server: String,
}

impl RemoteConfig {
    /// Whether clients of several principals share a connection.
    pub(crate) fn is_shared_by_principals(&self) -> bool {
        self.effective_sharing() == Sharing::Shared
    }

    /// Which clients share a process or session. A server that may have one process only is shared.
    pub(crate) fn effective_sharing(&self) -> Sharing {
        match self.max_processes {
            1 => Sharing::Shared,
            _ => self.sharing,
        }
    }
}

/// Which clients share a process or session of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub enum Sharing {
    /// None: each client has its own.
    #[default]
    Session,
    /// The clients of one principal that have the same capabilities.
    Principal,
    /// All clients. No client capability is declared, so the server sends no questions.
    Shared,
    /// Not even the calls of one client: each call has its own.
    Call,
}

/// The configured era of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub enum EraSetting {
    /// The era is detected.
    #[default]
    Auto,
    /// Legacy only: `server/discover` is not sent.
    Legacy,
    /// Modern only: no session is opened.
    Modern,
}

/// The transport of a server.
#[derive(Clone, Debug)]
pub enum TransportConfig {
    /// A child process with messages on its standard input and output.
    Stdio(Command),
    /// An HTTP endpoint.
    Http(Endpoint),
}
