//! What listeners hear, of all that sources tell.

use super::*;
use crate::ChangeFilter;

/// Source 0 owns the URI.
fn interest(uri: &str, spelled: &str) -> Interest {
    let watched = Watched {
        source: 0,
        native: uri.to_owned(),
        spelled: spelled.to_owned(),
    };
    let filter = ChangeFilter {
        tools: true,
        ..ChangeFilter::for_uri(spelled)
    };
    Interest {
        listener: Some(Arc::new(Caller {
            principal: Principal::new("ada"),
            admin: false,
        })),
        filter,
        watched: vec![watched],
        only: None,
    }
}

fn updated(uri: &str) -> Change {
    Change::ResourceUpdated(uri.into())
}

#[test]
fn a_subscription_covers_the_uri_and_what_lies_below() {
    let covers = |wanted: &str, uri| {
        Ear::new(interest(wanted, wanted)).hears_of(0, updated(uri)) == [updated(uri)]
    };
    assert!(covers("a://b/c", "a://b/c"));
    assert!(covers("a://b/c", "a://b/c/d"));
    assert!(covers("a://b/c", "a://b/c?d"));
    assert!(covers("a://b/", "a://b/c"));
    assert!(covers("a://b/", "a://b/c/d"));
    assert!(!covers("a://b/c", "a://b/cd"));
    assert!(!covers("a://b/c/d", "a://b/c"));
}

#[test]
fn an_update_comes_under_the_spelling_that_was_asked_for() {
    let ear = Ear::new(interest("a://b", "gateway://s/a://b"));
    assert_eq!(
        ear.hears_of(0, updated("a://b/c")),
        [updated("gateway://s/a://b/c")]
    );
}

#[test]
fn a_source_tells_of_its_own_alone() {
    let mut ear = Ear::new(interest("a://b", "a://b"));
    assert_eq!(ear.hears_of(1, updated("a://b")), []);
    assert_eq!(ear.hears_of(1, Change::Tools), [Change::Tools]);
    ear.only = Some(0);
    assert_eq!(ear.hears_of(1, Change::Tools), []);
}

#[test]
fn when_all_of_a_source_is_updated_each_hears_of_what_it_asked_for() {
    let ear = Ear::new(interest("a://b?c", "gateway://s/a://b?c"));
    let all = |source| ear.hears(source, ChangeEvent::AllResourcesUpdated.into());
    assert_eq!(all(0), [updated("gateway://s/a://b?c")]);
    assert_eq!(all(1), []);
}

#[test]
fn what_is_private_is_heard_by_those_it_concerns() {
    let mut ear = Ear::new(interest("a://b", "a://b"));
    let hears = |ear: &Ear, to: Recipients| {
        let news = ChangeEvent::Change(updated("a://b"));
        ear.hears(
            0,
            ChangeNotice {
                recipients: to,
                event: news,
            },
        ) == [updated("a://b")]
    };
    let of = |name| Recipients::Principal(Principal::new(name));
    assert!(hears(&ear, of("ada")));
    assert!(!hears(&ear, of("bob")));
    assert!(!hears(&ear, Recipients::Admins));
    ear.listener = Some(Arc::new(Caller::local()));
    assert!(hears(&ear, Recipients::Admins));
    ear.listener = None;
    assert!(!hears(&ear, Recipients::Admins));
    assert!(hears(&ear, Recipients::Everyone));
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let hub = Hub::default();
    let source = ChangeSender::default();
    let heard = hub.listen(interest("x://y", "x://y"));
    let pump = hub.pump([source.stream()]);
    for change in [
        Change::Prompts,
        updated("x://z"),
        updated("x://y"),
        Change::Tools,
    ] {
        source.send(change);
    }
    let two = heard.take(2).collect::<Vec<_>>();
    tokio::select! {
        () = pump => unreachable!("the source is still there"),
        two = two => assert_eq!(two, [updated("x://y"), Change::Tools]),
    }
}

#[tokio::test]
async fn a_listener_that_fell_behind_is_told_everything_it_asked_for() {
    let hub = Hub::default();
    let mut heard = Box::pin(hub.listen(interest("x://y", "x://y")));
    for _ in 0..=BACKLOG {
        let news = ChangeEvent::Change(Change::Prompts);
        hub.sender.send((0, news.into())).unwrap();
    }
    assert_eq!(heard.next().await, Some(Change::Tools));
    assert_eq!(heard.next().await, Some(updated("x://y")));
}
