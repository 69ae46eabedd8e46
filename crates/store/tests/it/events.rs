//! Events about writes, by this process and by others.

use std::sync::Arc;

use tidegate_store::memory::{MemoryStore, TOPIC, memory_store};
use tidegate_store::{Store, StoreChange, StoreEvent, StoreEvents};
use tokio::task::JoinSet;

use crate::TestStore;
use crate::laws::{TEST_TIMEOUT, entry, id, owner, put};

async fn next(events: &mut StoreEvents) -> StoreEvent {
    let event = tokio::time::timeout(TEST_TIMEOUT, events.next());
    event.await.expect("an event arrives")
}

fn changed(principal: &str, key: &str) -> StoreEvent {
    StoreEvent::Changed(StoreChange {
        topic: TOPIC.to_owned(),
        source: "memory".to_owned(),
        principal: principal.to_owned(),
        item: Some(("default".to_owned(), key.to_owned())),
    })
}

/// Runs a store and subscribes to it.
async fn subscribe(store: &Arc<Store>, tasks: &mut JoinSet<()>) -> StoreEvents {
    store.open().await.unwrap();
    let events = store.subscribe();
    let running = Arc::clone(store);
    tasks.spawn(async move { running.run().await });
    store.wait_until_following().await;
    events
}

async fn delete(memory: &Arc<dyn MemoryStore>, key: &str) {
    let id = id("default", key);
    memory.delete(&owner("ada"), &id).await.unwrap();
}

#[tokio::test]
async fn reports_changes_of_this_and_of_other_processes() {
    let test = TestStore::new();
    let mut tasks = JoinSet::new();
    let mut events = subscribe(&test.store, &mut tasks).await;
    let _guard = test.store.poll_frequently();
    let (local, other) = (
        memory_store(&test.store),
        memory_store(&test.second_process()),
    );
    put(&local, &owner("ada"), &entry("k", "1")).await;
    assert_eq!(next(&mut events).await, changed("ada", "k"));
    assert_eq!(next(&mut events).await, StoreEvent::Written);
    put(&other, &owner("bob"), &entry("b", "1")).await;
    assert_eq!(next(&mut events).await, changed("bob", "b"));
    assert_eq!(next(&mut events).await, StoreEvent::Written);
    delete(&other, "missing").await;
    delete(&other, "k").await;
    loop {
        match next(&mut events).await {
            StoreEvent::Written => {}
            event => break assert_eq!(event, changed("ada", "k")),
        }
    }
}

#[tokio::test]
async fn reports_a_gap_after_too_many_changes() {
    let test = TestStore::new();
    let mut tasks = JoinSet::new();
    let mut events = subscribe(&test.store, &mut tasks).await;
    let other = memory_store(&test.second_process());
    for number in 0..600 {
        put(&other, &owner("ada"), &entry(&format!("k{number}"), "1")).await;
    }
    // Until now the store was polled at long intervals.
    let _guard = test.store.poll_frequently();
    let mut changes = 0;
    loop {
        match next(&mut events).await {
            StoreEvent::Gap => break,
            StoreEvent::Changed(_) => changes += 1,
            StoreEvent::Written => assert!(changes < 600, "every change was reported"),
        }
        if changes == 600 {
            break;
        }
    }
}
