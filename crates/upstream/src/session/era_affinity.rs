//! In which era a server is used for a client, and which capabilities are declared for it.

use tidegate_core::{ClientContext, RawJson};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{ServerFacts, SessionSupport};

use crate::config::{EraSetting, RemoteConfig, Sharing, TransportConfig};

/// Whether a client's calls are made in a legacy session: a server that supports both eras is used in
/// the era of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionUse {
    Always,
    Never,
    /// If the server turns out to support sessions. Many that do declare only the modern revision.
    IfSupported,
}

pub(crate) fn session_use(
    config: &RemoteConfig,
    facts: &ServerFacts,
    client: &ClientContext,
) -> SessionUse {
    if facts.revision.era() == Era::Legacy {
        return SessionUse::Always;
    }
    let is_process = matches!(config.transport, TransportConfig::Stdio(_));
    let is_shared_process = is_process && config.is_shared_by_principals();
    if client.era == Era::Modern || config.era == EraSetting::Modern || is_shared_process {
        return SessionUse::Never;
    }
    match facts.sessions {
        SessionSupport::Supported { .. } => SessionUse::Always,
        SessionSupport::Unknown => SessionUse::IfSupported,
        // A client keeps its process, whatever is learned about it.
        SessionSupport::Unsupported if is_process => SessionUse::IfSupported,
        SessionSupport::Unsupported => SessionUse::Never,
    }
}

/// The capabilities of a client that are declared to the server.
pub(crate) fn declared_capabilities(config: &RemoteConfig, client: &ClientContext) -> RawJson {
    match config.effective_sharing() {
        Sharing::Shared => RawJson::empty_object(),
        Sharing::Session | Sharing::Principal | Sharing::Call => client.capabilities.clone(),
    }
}
