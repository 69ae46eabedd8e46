//! Which clients share a connection.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{Features, Principal, Seal};
use tidegate_mcp::Revision;
use tidegate_mcp::revision::client::SessionSupport;

use super::*;
use crate::config::{EraSetting, ListObserver};
use crate::transport::http::{Endpoint, TrustStore};
use crate::transport::stdio::Command;

const SUPPORTED: SessionSupport = SessionSupport::Supported { facts: None };
const ELICITATION: &str = r#"{"elicitation":{}}"#;
const ROOTS: &str = r#"{"roots":{}}"#;

fn config(sharing: Sharing) -> RemoteConfig {
    RemoteConfig {
        name: "server".to_owned(),
        transport: TransportConfig::Stdio(Command::new("server".to_owned(), Vec::new())),
        era: EraSetting::Auto,
        connect_timeout: Duration::from_secs(1),
        list_wait: Duration::from_secs(1),
        max_message_bytes: 1024,
        sharing,
        max_processes: 64,
        max_processes_per_principal: 16,
        idle_timeout: Duration::from_secs(300),
        parked_call_timeout: Duration::from_secs(1),
        seal: Arc::new(Seal::generate()),
        saved_catalog: None,
        listed: ListObserver::default(),
    }
}

fn facts(revision: Revision, sessions: SessionSupport) -> ServerFacts {
    ServerFacts {
        revision,
        features: Features::default(),
        announces_changes: false,
        instructions: None,
        declared: RawJson::empty_object(),
        sessions,
    }
}

fn legacy() -> ServerFacts {
    facts(Revision::NEWEST_LEGACY, SUPPORTED)
}

fn modern() -> ServerFacts {
    facts(Revision::NEWEST, SessionSupport::Unknown)
}

fn client(capabilities: &str, affinity: Option<AffinityKey>) -> ClientContext {
    ClientContext {
        era: match affinity {
            Some(_) => Era::Legacy,
            None => Era::Modern,
        },
        affinity,
        capabilities: RawJson::parse(capabilities).unwrap(),
        ..ClientContext::default()
    }
}

/// The key of a client with these capabilities, in a session or without one.
fn key(
    sharing: Sharing,
    facts: &ServerFacts,
    capabilities: &str,
    affinity: Option<AffinityKey>,
) -> Option<ClientKey> {
    key_at(&config(sharing), facts, capabilities, affinity)
}

fn key_at(
    config: &RemoteConfig,
    facts: &ServerFacts,
    capabilities: &str,
    affinity: Option<AffinityKey>,
) -> Option<ClientKey> {
    let client = client(capabilities, affinity);
    ClientKey::for_client(config, facts, &Principal::local(), &client)
}

/// A server at a URL instead of a process.
fn at_url(mut config: RemoteConfig) -> RemoteConfig {
    let url = "http://127.0.0.1:1/mcp".parse().unwrap();
    let endpoint = Endpoint::new(url, Vec::new(), &TrustStore::system(), None);
    config.transport = TransportConfig::Http(endpoint);
    config
}

#[test]
fn each_session_has_its_own_process() {
    for capabilities in ["{}", ELICITATION, ROOTS] {
        let [first, second] = [(); 2].map(|()| {
            let session = Some(AffinityKey::generate());
            key(Sharing::Session, &legacy(), capabilities, session)
        });
        assert!(first.is_some() && first != second, "{capabilities}");
    }
}

#[test]
fn a_client_without_a_session_is_recognized_by_what_it_declares() {
    let key = |capabilities| key(Sharing::Session, &legacy(), capabilities, None);
    assert_eq!(key(ROOTS), key(ROOTS));
    assert_ne!(key(ROOTS), key(ELICITATION));
    assert!(key("{}").unwrap().is_anonymous());
    assert!(!key(ROOTS).unwrap().is_anonymous());
}

#[test]
fn the_clients_of_a_principal_share_by_capabilities() {
    let key = |capabilities, session| key(Sharing::Principal, &legacy(), capabilities, session);
    let session = || Some(AffinityKey::generate());
    assert_eq!(key(ROOTS, session()), key(ROOTS, session()));
    assert_eq!(key(ROOTS, session()), key(ROOTS, None));
    assert_ne!(key(ROOTS, session()), key("{}", session()));
}

#[test]
fn all_clients_of_a_shared_server_use_the_catalog_connection() {
    let session = Some(AffinityKey::generate());
    assert_eq!(key(Sharing::Shared, &legacy(), ELICITATION, session), None);
    let mut one_process = config(Sharing::Session);
    one_process.max_processes = 1;
    assert_eq!(key_at(&one_process, &legacy(), ELICITATION, session), None);
}

#[test]
fn each_call_has_its_own_connection_where_nothing_is_shared() {
    let session = Some(AffinityKey::generate());
    let [first, second] =
        [(); 2].map(|()| key(Sharing::Call, &legacy(), ELICITATION, session).unwrap());
    assert_ne!(first, second);
}

#[test]
fn a_modern_client_of_a_modern_server_at_a_url_needs_no_connection_of_its_own() {
    for sharing in [Sharing::Session, Sharing::Principal, Sharing::Call] {
        let config = at_url(config(sharing));
        assert_eq!(key_at(&config, &modern(), ELICITATION, None), None);
    }
    assert!(key(Sharing::Session, &modern(), ELICITATION, None).is_some());
}

#[test]
fn a_legacy_client_uses_sessions_of_a_server_that_supports_both_eras() {
    let session = Some(AffinityKey::generate());
    let (both, config) = (
        facts(Revision::NEWEST, SUPPORTED),
        at_url(config(Sharing::Session)),
    );
    for capabilities in ["{}", ELICITATION] {
        let key = key_at(&config, &both, capabilities, session).unwrap();
        assert!(key.in_session);
    }
}

/// What is learned about its sessions must not move a client to another process.
#[test]
fn a_legacy_client_keeps_its_process_whatever_is_learned_about_sessions() {
    let session = Some(AffinityKey::generate());
    let [unknown, unsupported, supported] = [
        SessionSupport::Unknown,
        SessionSupport::Unsupported,
        SUPPORTED,
    ]
    .map(|sessions| {
        let facts = facts(Revision::NEWEST, sessions);
        key(Sharing::Session, &facts, "{}", session)
    });
    assert!(unknown.is_some());
    assert_eq!(unknown, unsupported);
    assert_eq!(unknown, supported);
}
