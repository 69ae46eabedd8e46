//! The snapshot, and the classes in it.

use tidegate_core::RawJson;

use super::*;

fn key(capabilities: &str) -> ClassKey {
    ClassKey::Clients {
        in_session: true,
        capabilities: RawJson::parse(capabilities).unwrap(),
    }
}

#[test]
fn a_class_is_loading_until_it_is_settled() {
    let store = SnapshotStore::new();
    let class = store.update(|snapshot| snapshot.add_class(&key(r#"{"a":1}"#)));
    let class = class.unwrap();
    let own = store.load().catalog_of(&class);
    assert_eq!(own.gap, Some(CatalogGap::Loading));
    store.stop_waiting_for(&class);
    assert!(class.settled.is_cancelled());
    assert!(store.load().is_same_as_everyone(&class));
    store.remove_class(&class);
    assert!(!store.load().contains(&class));
}

#[test]
fn the_number_of_classes_is_limited() {
    let store = SnapshotStore::new();
    for number in 0..MAX_CLASSES {
        let key = key(&format!("{{\"a\":{number}}}"));
        assert!(store.update(|snapshot| snapshot.add_class(&key)).is_some());
    }
    let added = store.update(|snapshot| snapshot.add_class(&key(r#"{"b":1}"#)));
    assert!(added.is_none(), "all of them were used a moment ago");
}

#[test]
fn a_reason_is_recorded_only_while_no_catalog_was_loaded() {
    let store = SnapshotStore::new();
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
    let store = SnapshotStore::new();
    let before = store.load();
    store.update(|snapshot| {
        snapshot.catalog = Arc::default();
        snapshot.health = Health::Healthy;
    });
    assert!(before.catalog.gap.is_some() && before.health != Health::Healthy);
    let after = store.load();
    assert!(after.catalog.gap.is_none() && after.health == Health::Healthy);
}
