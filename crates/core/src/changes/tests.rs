//! Which changes reach a listener.

use super::*;

fn source(id: &str) -> SourceId {
    id.parse().unwrap()
}

/// Interest in the tools, and in a resource of the source `owner`.
fn interest(native: &str, requested: &str) -> Interest {
    let resource = SubscribedResource {
        source: source("owner"),
        native: native.to_owned(),
        requested: requested.to_owned(),
    };
    let filter = ChangeFilter {
        tools: true,
        ..ChangeFilter::for_uri(requested)
    };
    Interest {
        caller: Some(Arc::new(Caller {
            principal: Principal::new("ada"),
            admin: false,
        })),
        filter,
        resources: vec![resource],
        only: None,
    }
}

fn updated(uri: &str) -> Change {
    Change::ResourceUpdated(uri.into())
}

#[test]
fn a_subscription_covers_the_uri_and_everything_below() {
    let owner = source("owner");
    let covers = |subscribed: &str, uri| {
        let listener = ChangeListener::new(interest(subscribed, subscribed));
        listener.subscribed(&owner, updated(uri)) == [updated(uri)]
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
fn an_update_names_the_uri_that_was_requested() {
    let listener = ChangeListener::new(interest("a://b", "gateway://s/a://b"));
    assert_eq!(
        listener.subscribed(&source("owner"), updated("a://b/c")),
        [updated("gateway://s/a://b/c")]
    );
}

#[test]
fn a_source_cannot_announce_updates_of_another_source() {
    let other = source("other");
    let mut listener = ChangeListener::new(interest("a://b", "a://b"));
    assert_eq!(listener.subscribed(&other, updated("a://b")), []);
    assert_eq!(listener.subscribed(&other, Change::Tools), [Change::Tools]);
    listener.only = Some(source("owner"));
    assert_eq!(listener.subscribed(&other, Change::Tools), []);
}

#[test]
fn all_resources_updated_becomes_one_update_for_each_subscription() {
    let listener = ChangeListener::new(interest("a://b?c", "gateway://s/a://b?c"));
    let all = |id| listener.changes_in(&source(id), ChangeEvent::AllResourcesUpdated.into());
    assert_eq!(all("owner"), [updated("gateway://s/a://b?c")]);
    assert_eq!(all("other"), []);
}

#[test]
fn private_changes_reach_only_their_recipients() {
    let mut listener = ChangeListener::new(interest("a://b", "a://b"));
    let receives = |listener: &ChangeListener, recipients: Recipients| {
        let event = ChangeEvent::Change(updated("a://b"));
        let notice = ChangeNotice { recipients, event };
        listener.changes_in(&source("owner"), notice) == [updated("a://b")]
    };
    let principal = |name| Recipients::Principal(Principal::new(name));
    assert!(receives(&listener, principal("ada")));
    assert!(!receives(&listener, principal("bob")));
    assert!(!receives(&listener, Recipients::Admins));
    listener.caller = Some(Arc::new(Caller::local()));
    assert!(receives(&listener, Recipients::Admins));
    listener.caller = None;
    assert!(!receives(&listener, Recipients::Admins));
    assert!(receives(&listener, Recipients::Everyone));
}

#[tokio::test]
async fn a_listener_receives_only_what_it_subscribed_to() {
    let hub = Hub::default();
    let sender = ChangeSender::default();
    let changes = hub.listen(interest("x://y", "x://y"));
    let run = hub.run([(source("owner"), sender.stream())]);
    for change in [
        Change::Prompts,
        updated("x://z"),
        updated("x://y"),
        Change::Tools,
    ] {
        sender.send(change);
    }
    let first_two = changes.take(2).collect::<Vec<_>>();
    tokio::select! {
        () = run => unreachable!("the source has not ended"),
        changes = first_two => assert_eq!(changes, [updated("x://y"), Change::Tools]),
    }
}

#[tokio::test]
async fn a_listener_that_fell_behind_receives_everything_it_subscribed_to() {
    let hub = Hub::default();
    let mut changes = Box::pin(hub.listen(interest("x://y", "x://y")));
    for _ in 0..=BUFFERED_CHANGES {
        let event = ChangeEvent::Change(Change::Prompts);
        hub.sender.send((source("owner"), event.into())).unwrap();
    }
    assert_eq!(changes.next().await, Some(Change::Tools));
    assert_eq!(changes.next().await, Some(updated("x://y")));
}
