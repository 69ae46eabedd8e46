//! The snapshot, and the classes in it.

use tidegate_core::{Caller, ClientContext, RawJson};

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
    let default = Arc::new(Catalog::default());
    let class = store.update(|snapshot| {
        snapshot.catalog = Arc::clone(&default);
        snapshot.add_class(&key(r#"{"a":1}"#), first_client())
    });
    let class = class.unwrap();
    assert!(store.load().catalog_of(&class).is_preliminary);
    store.stop_waiting_for(&class);
    assert!(Arc::ptr_eq(&store.load().catalog_of(&class), &default));
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
        snapshot.catalog = Arc::default();
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
        snapshot.catalog = Arc::default();
        snapshot.health = Health::Healthy;
    });
    assert!(before.catalog.gap.is_some() && before.health != Health::Healthy);
    let after = store.load();
    assert!(after.catalog.gap.is_none() && after.health == Health::Healthy);
}
