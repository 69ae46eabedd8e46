//! Which connection a call is routed to.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{
    AffinityKey, Caller, ClientContext, CorrelationId, Features, Operation, Principal, Scope, Seal,
};
use tidegate_mcp::Revision;

use super::*;
use crate::config::{EraSetting, ListObserver, TransportConfig};
use crate::transport::stdio::Command;

const ELICITATION: &str = r#"{"elicitation":{}}"#;
const ROOTS: &str = r#"{"roots":{}}"#;

fn config(sharing: Sharing) -> RemoteConfig {
    RemoteConfig {
        name: "server".to_owned(),
        transport: TransportConfig::Stdio(Command::new("server".to_owned(), Vec::new())),
        speaks: EraSetting::Auto,
        connect_timeout: Duration::from_secs(1),
        list_wait: Duration::from_secs(1),
        max_message_bytes: 1024,
        sharing,
        max_connections: 1,
        parked_call_timeout: Duration::from_secs(1),
        seal: Arc::new(Seal::generate()),
        listed: ListObserver::default(),
    }
}

fn facts(revision: Revision, supports_sessions: bool) -> ServerFacts {
    ServerFacts {
        revision,
        features: Features::default(),
        announces_changes: false,
        instructions: None,
        supports_sessions,
    }
}

fn legacy() -> ServerFacts {
    facts(Revision::NEWEST_LEGACY, false)
}

fn modern() -> ServerFacts {
    facts(Revision::NEWEST, false)
}

fn call(capabilities: &str, affinity: Option<AffinityKey>) -> Call {
    Call {
        correlation_id: CorrelationId::generate(),
        caller: Arc::new(Caller::local()),
        scope: Scope::All,
        label: "tools/call",
        client: ClientContext {
            era: match affinity {
                Some(_) => Era::Legacy,
                None => Era::Modern,
            },
            affinity,
            capabilities: RawJson::parse(capabilities).unwrap(),
            ..ClientContext::default()
        },
        source: "server".parse().unwrap(),
        operation: Operation::Tool {
            name: "t".to_owned(),
        },
        idempotent: false,
        params: RawJson::empty_object(),
    }
}

fn select(sharing: Sharing, facts: &ServerFacts, call: &Call) -> Selection {
    Selection::of(&config(sharing), facts, call)
}

fn pooled(capabilities: &str, affinity: Option<AffinityKey>) -> Selection {
    Selection::Pooled(ShardKey {
        principal: Some(Principal::local()),
        capabilities: RawJson::parse(capabilities).unwrap(),
        affinity,
    })
}

#[test]
fn a_client_that_cannot_be_asked_shares_the_connection_of_everyone() {
    for affinity in [None, Some(AffinityKey::generate())] {
        let call = call("{}", affinity);
        for sharing in [Sharing::Principal, Sharing::All] {
            assert_eq!(select(sharing, &legacy(), &call), Selection::Everyone);
        }
    }
}

#[test]
fn a_client_that_can_be_asked_gets_a_connection_of_its_principal() {
    for affinity in [None, Some(AffinityKey::generate())] {
        let call = call(ELICITATION, affinity);
        let selected = select(Sharing::Principal, &legacy(), &call);
        assert_eq!(selected, pooled(ELICITATION, None));
    }
}

#[test]
fn a_server_that_remembers_roots_is_not_shared_between_sessions() {
    let session = Some(AffinityKey::generate());
    let selected = select(Sharing::Principal, &legacy(), &call(ROOTS, session));
    assert_eq!(selected, pooled(ROOTS, session));
    let modern_client = select(Sharing::Principal, &legacy(), &call(ROOTS, None));
    let capabilities = RawJson::parse(ROOTS).unwrap();
    assert_eq!(modern_client, Selection::Exclusive(capabilities));
}

#[test]
fn a_shared_server_is_told_no_capabilities_so_that_all_calls_use_one_connection() {
    let call = call(ELICITATION, Some(AffinityKey::generate()));
    let selected = select(Sharing::All, &legacy(), &call);
    assert_eq!(selected, Selection::Everyone);
}

#[test]
fn each_call_has_its_own_connection_where_nothing_is_shared() {
    for capabilities in ["{}", ELICITATION] {
        let call = call(capabilities, Some(AffinityKey::generate()));
        let expected = Selection::Exclusive(RawJson::parse(capabilities).unwrap());
        assert_eq!(select(Sharing::Call, &legacy(), &call), expected);
    }
}

#[test]
fn a_modern_client_of_a_modern_server_needs_no_session() {
    for sharing in [Sharing::Principal, Sharing::All, Sharing::Call] {
        let call = call(ELICITATION, None);
        assert_eq!(select(sharing, &modern(), &call), Selection::Everyone);
    }
}

#[test]
fn a_legacy_client_uses_sessions_of_a_server_that_supports_both_eras() {
    let session = Some(AffinityKey::generate());
    let both = facts(Revision::NEWEST, true);
    let selected = select(Sharing::Principal, &both, &call(ELICITATION, session));
    assert_eq!(selected, pooled(ELICITATION, None));
    let without_questions = select(Sharing::Principal, &both, &call("{}", session));
    assert_eq!(without_questions, pooled("{}", None));
}

#[test]
fn sessions_are_attempted_at_a_modern_server_only_for_clients_that_can_be_asked() {
    let session = Some(AffinityKey::generate());
    let selected = select(Sharing::Principal, &modern(), &call(ELICITATION, session));
    assert_eq!(selected, pooled(ELICITATION, None));
    let without_questions = select(Sharing::Principal, &modern(), &call("{}", session));
    assert_eq!(without_questions, Selection::Everyone);
}
