//! Classes of clients. Servers list by the era and the capabilities of a client, so clients that
//! share both see the same lists. "Everyone" is the default class: the gateway itself, without
//! capabilities. Most servers list the same entries for all clients; then a class costs nothing.
//!
//! Holds no catalog: `snapshot` does, and `refresh` loads them.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tidegate_core::{ClientContext, Principal, RawJson, Viewer};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{ServerFacts, SessionSupport};
use tokio_util::sync::CancellationToken;

use crate::config::RemoteConfig;
use crate::session::era_affinity::{SessionUse, declared_capabilities, session_use};

/// How long an unused class is kept.
const UNUSED_TIMEOUT: Duration = Duration::from_secs(600);

/// Clients with more bytes of capabilities use the default catalog.
const MAX_CAPABILITY_BYTES: usize = 4 * 1024;

/// What distinguishes a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClassKey {
    /// The default class: clients that see the catalog of the gateway's own connection.
    Default,
    /// Clients with these capabilities, whose lists are loaded in a separate session or over the
    /// default connection.
    Clients {
        in_session: bool,
        capabilities: RawJson,
    },
}

impl ClassKey {
    /// The class of a client of this server.
    pub(crate) fn for_client(
        config: &RemoteConfig,
        facts: &ServerFacts,
        client: &ClientContext,
    ) -> Self {
        let capabilities = declared_capabilities(config, client);
        let in_session = match session_use(config, facts, client) {
            SessionUse::Always => true,
            SessionUse::IfSupported => facts.sessions == SessionSupport::Unknown,
            SessionUse::Never => false,
        };
        let declares_nothing = capabilities.as_str() == "{}";
        let has_default_era = in_session == (facts.revision.era() == Era::Legacy);
        let is_too_long = capabilities.as_str().len() > MAX_CAPABILITY_BYTES;
        match is_too_long || declares_nothing && has_default_era {
            true => Self::Default,
            false => Self::Clients {
                in_session,
                capabilities,
            },
        }
    }
}

/// The client that a class was added for. Its process or session loads the lists of the class.
#[derive(Clone)]
pub(crate) struct FirstClient {
    pub(crate) principal: Principal,
    pub(crate) client: ClientContext,
}

impl FirstClient {
    pub(super) fn new(viewer: &Viewer<'_>) -> Self {
        Self {
            principal: viewer.caller.principal.clone(),
            client: viewer.client.clone(),
        }
    }
}

/// A class of clients.
pub(crate) struct ClientClass {
    pub(crate) key: ClassKey,
    /// `None` for the default class.
    pub(crate) first_client: Option<FirstClient>,
    /// Cancelled when the lists of the class are loaded, or cannot be loaded.
    pub(super) settled: CancellationToken,
    /// Whether a client was answered before the lists of the class were loaded.
    served_preliminary: AtomicBool,
    last_used: AtomicU64,
    /// Whether a task refreshes the class.
    is_refreshed: AtomicBool,
}

impl ClientClass {
    pub(super) fn new(key: ClassKey, first_client: Option<FirstClient>) -> Self {
        Self {
            key,
            first_client,
            settled: CancellationToken::new(),
            served_preliminary: AtomicBool::new(false),
            last_used: AtomicU64::new(seconds()),
            is_refreshed: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        self.key == ClassKey::Default
    }

    /// Whether its lists are loaded in a session.
    pub(super) fn is_in_session(&self) -> bool {
        matches!(
            self.key,
            ClassKey::Clients {
                in_session: true,
                ..
            }
        )
    }

    /// The capabilities for which its lists are loaded.
    pub(crate) fn capabilities(&self) -> RawJson {
        match &self.key {
            ClassKey::Default => RawJson::empty_object(),
            ClassKey::Clients { capabilities, .. } => capabilities.clone(),
        }
    }

    /// Whether there is nothing to wait for. The lists of the default class are waited for elsewhere.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_default() || self.settled.is_cancelled()
    }

    /// Waits until the lists of the class are loaded, or cannot be loaded.
    pub(crate) async fn wait_until_settled(&self) {
        self.settled.cancelled().await;
    }

    pub(crate) fn mark_served_preliminary(&self) {
        self.served_preliminary.store(true, Relaxed);
    }

    /// Whether the first lists of the class differ from what its clients may have seen.
    pub(super) fn must_announce_first_lists(&self) -> bool {
        self.served_preliminary.load(Relaxed)
    }

    pub(super) fn mark_used(&self) {
        self.last_used.store(seconds(), Relaxed);
    }

    /// Claims the class for the caller, which must refresh it. False if it is claimed already.
    pub(super) fn claim(&self) -> bool {
        !self.is_refreshed.swap(true, Relaxed)
    }

    /// Waits until no client has used the class for a long time.
    pub(crate) async fn wait_until_unused(&self) {
        while let Some(remaining) = UNUSED_TIMEOUT.checked_sub(self.idle_time()) {
            tokio::time::sleep(remaining.max(Duration::from_secs(1))).await;
        }
    }

    pub(super) fn idle_time(&self) -> Duration {
        Duration::from_secs(seconds().saturating_sub(self.last_used.load(Relaxed)))
    }
}

/// Seconds since the first call of this function: coarse, and cheap to store.
fn seconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs()
}
