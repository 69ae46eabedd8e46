//! In which era a server is used for a client, and which capabilities are declared for it.

use tidegate_core::{ClientContext, RawJson};
use tidegate_interaction::capabilities::accepts_questions;
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::ServerFacts;

use crate::config::{EraSetting, RemoteConfig, Sharing};

/// Whether a client's calls are made in a legacy session: a server that supports both eras is used in
/// the era of its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionUse {
    Always,
    Never,
    /// If the server turns out to support sessions. Many that do declare only the revision of the
    /// request, and send no questions without a session.
    IfSupported,
}

pub(crate) fn session_use(
    config: &RemoteConfig,
    facts: &ServerFacts,
    client: &ClientContext,
) -> SessionUse {
    let accepts_questions = || accepts_questions(&declared_capabilities(config, client));
    match facts.revision.era() {
        Era::Legacy => SessionUse::Always,
        Era::Modern if client.era == Era::Modern => SessionUse::Never,
        Era::Modern if facts.supports_sessions => SessionUse::Always,
        Era::Modern if config.era == EraSetting::Auto && accepts_questions() => {
            SessionUse::IfSupported
        }
        Era::Modern => SessionUse::Never,
    }
}

/// The capabilities of a client that are declared to the server.
pub(crate) fn declared_capabilities(config: &RemoteConfig, client: &ClientContext) -> RawJson {
    match config.effective_sharing() {
        Sharing::Shared => RawJson::empty_object(),
        Sharing::Session | Sharing::Principal | Sharing::Call => client.capabilities.clone(),
    }
}
