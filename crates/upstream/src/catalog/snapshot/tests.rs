//! The snapshot, and the classes in it.

use tidegate_core::{Caller, ClientContext, RawJson};
use tidegate_mcp::Revision;
use tidegate_mcp::revision::client::{parse_declared, parse_initialize_result};

use super::*;

fn key(capabilities: &str) -> ClassKey {
    ClassKey::Clients {
        in_session: true,
        capabilities: RawJson::parse(capabilities).unwrap(),
    }
}

fn first_client() -> FirstClient {
    FirstClient::new(&Viewer {
        caller: &Caller::local(),
        client: &ClientContext::default(),
    })
}

#[test]
fn a_class_sees_the_default_catalog_until_its_own_is_loaded() {
    let store = SnapshotStore::new(None);
    let class = store.update(|snapshot| {
        snapshot.set_catalog(Catalog::default());
        snapshot.add_class(&key(r#"{"a":1}"#), first_client())
    });
    let class = class.unwrap();
    assert!(store.load().catalog_of(&class).is_preliminary);
    store.stop_waiting_for(&class);
    let snapshot = store.load();
    assert!(Arc::ptr_eq(&snapshot.catalog_of(&class), &snapshot.catalog));
    store.remove_class(&class);
    assert!(!store.load().contains(&class));
}

#[test]
fn the_number_of_classes_is_limited() {
    let store = SnapshotStore::new(None);
    let add = |key: &ClassKey| store.update(|snapshot| snapshot.add_class(key, first_client()));
    for number in 0..MAX_CLASSES {
        assert!(add(&key(&format!("{{\"a\":{number}}}"))).is_some());
    }
    let added = add(&key(r#"{"b":1}"#));
    assert!(added.is_none(), "all of them were used a moment ago");
}

#[test]
fn a_reason_is_recorded_only_while_no_catalog_was_loaded() {
    let store = SnapshotStore::new(None);
    store.update(|snapshot| snapshot.set_unavailable("refused"));
    let unavailable = CatalogGap::Unavailable("refused".to_owned());
    assert_eq!(store.load().catalog.gap, Some(unavailable));
    store.update(|snapshot| {
        snapshot.set_catalog(Catalog::default());
        snapshot.set_unavailable("refused");
    });
    assert_eq!(store.load().catalog.gap, None);
}

/// A reader never sees the catalog of one connection with the health of another.
#[test]
fn a_snapshot_is_consistent() {
    let store = SnapshotStore::new(None);
    let before = store.load();
    store.update(|snapshot| {
        snapshot.set_catalog(Catalog::default());
        snapshot.health = Health::Healthy;
    });
    assert!(before.catalog.gap.is_some() && before.health != Health::Healthy);
    let after = store.load();
    assert!(after.catalog.gap.is_none() && after.health == Health::Healthy);
}

fn legacy_facts() -> ServerFacts {
    let result =
        r#"{"protocolVersion":"2025-11-25","capabilities":{"logging":{}},"instructions":"old"}"#;
    parse_initialize_result(&RawJson::copy_of(result)).unwrap()
}

fn modern_facts(sessions: SessionSupport) -> ServerFacts {
    let result = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    let facts = parse_declared(Revision::NEWEST, &RawJson::copy_of(result)).unwrap();
    ServerFacts { sessions, ..facts }
}

#[test]
fn a_class_in_sessions_sees_what_the_server_declares_in_a_session() {
    let store = SnapshotStore::new(None);
    let class = store.update(|snapshot| {
        snapshot.set_catalog(Catalog::default());
        let facts = Some(Arc::new(legacy_facts()));
        snapshot.set_facts(&modern_facts(SessionSupport::Supported { facts }), true);
        snapshot.add_class(&key("{}"), first_client())
    });
    let class = class.unwrap();
    let preliminary = store.load().catalog_of(&class);
    assert!(preliminary.features.logging && !preliminary.features.tools);
    store.stop_waiting_for(&class);
    let catalog = store.load().catalog_of(&class);
    assert_eq!(catalog.instructions.as_deref(), Some("old"));
    assert_eq!(store.load().catalog.instructions, None);
}

#[test]
fn what_is_known_about_sessions_is_kept() {
    let store = SnapshotStore::new(None);
    let sessions_after = |facts: &ServerFacts, may_be_another| {
        store.update(|snapshot| snapshot.set_facts(facts, may_be_another));
        store.load().facts.as_ref().unwrap().sessions.clone()
    };
    let unknown = modern_facts(SessionSupport::Unknown);
    assert_eq!(sessions_after(&unknown, true), SessionSupport::Unknown);
    store.update(|snapshot| snapshot.set_session_support(SessionSupport::Unsupported));
    assert_eq!(sessions_after(&unknown, false), SessionSupport::Unsupported);
    assert_eq!(sessions_after(&unknown, true), SessionSupport::Unknown);
    let facts = Some(Arc::new(legacy_facts()));
    let supported = SessionSupport::Supported { facts };
    store.update(|snapshot| snapshot.set_session_support(supported.clone()));
    assert_eq!(sessions_after(&unknown, true), supported);
    let legacy = legacy_facts();
    assert_eq!(sessions_after(&legacy, true), legacy.sessions);
}

#[test]
fn a_class_that_had_the_default_lists_does_not_wait_for_them_again() {
    let store = SnapshotStore::new(None);
    let add = || store.update(|snapshot| snapshot.add_class(&key("{}"), first_client()));
    let class = add().unwrap();
    store.update(|snapshot| {
        let catalog = Catalog::clone(&snapshot.session_catalog);
        snapshot.publish_class(&class, catalog, CacheLifetime::Unknown);
    });
    store.remove_class(&class);
    let class = add().unwrap();
    assert!(!store.load().catalog_of(&class).is_preliminary);
    assert!(class.settled.is_cancelled());
}
