//! Whoever listens hears what changes, whichever process did it.

use std::sync::Arc;
use std::time::Duration;

use tidegate_store::memory::{Memories, TOPIC, memories};
use tidegate_store::{Changed, Changes, Store, Told};
use tokio::task::JoinSet;

use crate::Place;
use crate::laws::{draft, owner, place, put};

/// Long, because a busy machine is no fault of the store.
const PATIENCE: Duration = Duration::from_secs(60);

async fn next(changes: &mut Changes) -> Told {
    let told = tokio::time::timeout(PATIENCE, changes.next());
    told.await.expect("a change is told")
}

fn changed(principal: &str, key: &str) -> Told {
    Told::Changed(Changed {
        topic: TOPIC.to_owned(),
        source: "memory".to_owned(),
        principal: principal.to_owned(),
        thing: Some(("default".to_owned(), key.to_owned())),
    })
}

/// A store that tells, and what it tells.
async fn listening(store: &Arc<Store>, tasks: &mut JoinSet<()>) -> Changes {
    store.open().await.unwrap();
    let changes = store.changes();
    let running = Arc::clone(store);
    tasks.spawn(async move { running.run().await });
    store.followed().await;
    changes
}

async fn delete(memories: &Arc<dyn Memories>, key: &str) {
    let place = place("default", key);
    memories.delete(&owner("ada"), &place).await.unwrap();
}

#[tokio::test]
async fn changes_of_this_and_of_other_processes_are_told() {
    let here = Place::new();
    let mut tasks = JoinSet::new();
    let mut changes = listening(&here.store, &mut tasks).await;
    let _listening = here.store.listen();
    let (mine, theirs) = (memories(&here.store), memories(&here.beside()));
    put(&mine, &owner("ada"), &draft("k", "1")).await;
    assert_eq!(next(&mut changes).await, changed("ada", "k"));
    assert_eq!(next(&mut changes).await, Told::Written);
    put(&theirs, &owner("bob"), &draft("b", "1")).await;
    assert_eq!(next(&mut changes).await, changed("bob", "b"));
    assert_eq!(next(&mut changes).await, Told::Written);
    delete(&theirs, "nothing").await;
    delete(&theirs, "k").await;
    loop {
        match next(&mut changes).await {
            Told::Written => {}
            told => break assert_eq!(told, changed("ada", "k")),
        }
    }
}

#[tokio::test]
async fn what_is_too_much_is_told_as_a_gap() {
    let here = Place::new();
    let mut tasks = JoinSet::new();
    let mut changes = listening(&here.store, &mut tasks).await;
    let theirs = memories(&here.beside());
    for number in 0..600 {
        put(&theirs, &owner("ada"), &draft(&format!("k{number}"), "1")).await;
    }
    // Nobody listens yet, so it is long until the next look.
    let _listening = here.store.listen();
    let mut told = 0;
    loop {
        match next(&mut changes).await {
            Told::Gap => break,
            Told::Changed(_) => told += 1,
            Told::Written => assert!(told < 600, "all were told one by one"),
        }
        if told == 600 {
            break;
        }
    }
}
