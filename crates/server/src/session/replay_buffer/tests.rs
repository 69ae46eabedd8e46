//! All messages are buffered before they are read, so nothing here waits.

use futures_util::FutureExt as _;

use super::*;

fn buffer(max_events: usize) -> Arc<ReplayBuffer> {
    let limits = TransportLimits {
        replay_buffer_events: max_events,
        ..TransportLimits::default()
    };
    ReplayBuffer::new(7, &limits)
}

fn notification(text: &str) -> OutgoingMessage {
    OutgoingMessage::Notification(text.to_owned())
}

fn next(reader: &mut ReplayReader) -> Option<String> {
    let next = reader.next().now_or_never();
    let (_, message) = next.expect("a buffered message or the end of the stream")?;
    Some(message.json().to_owned())
}

#[test]
fn a_new_reader_resumes_and_replaces_the_old_one() {
    let buffer = buffer(8);
    let mut first = buffer.reader();
    buffer.push(notification("a"));
    buffer.push(notification("b"));
    assert_eq!(next(&mut first).as_deref(), Some("a"));
    let mut second = buffer.reader_after(1);
    assert_eq!(next(&mut first), None, "the second reader took over");
    assert_eq!(next(&mut second).as_deref(), Some("b"));
    buffer.finish();
    assert_eq!(next(&mut second), None);
}

#[test]
fn a_full_buffer_drops_the_oldest_notification() {
    let buffer = buffer(2);
    for text in ["a", "b", "c"] {
        buffer.push(notification(text));
    }
    let mut reader = buffer.reader();
    assert_eq!(next(&mut reader).as_deref(), Some("b"));
}

#[test]
fn an_unread_notification_is_not_pushed_twice() {
    let buffer = buffer(8);
    buffer.push_coalesced("x".to_owned(), String::new);
    buffer.push_coalesced("x".to_owned(), String::new);
    let mut reader = buffer.reader();
    assert_eq!(next(&mut reader).as_deref(), Some("x"));
    buffer.push_coalesced("x".to_owned(), String::new);
    buffer.finish();
    assert_eq!(next(&mut reader).as_deref(), Some("x"));
    assert_eq!(next(&mut reader), None);
}

#[test]
fn an_unread_response_is_never_dropped() {
    let buffer = buffer(2);
    buffer.push(OutgoingMessage::Response {
        json: "response".to_owned(),
        code: None,
    });
    for text in ["a", "b", "c"] {
        buffer.push(notification(text));
    }
    let mut reader = buffer.reader();
    assert_eq!(next(&mut reader).as_deref(), Some("response"));
    assert_eq!(next(&mut reader).as_deref(), Some("c"));
}

#[test]
fn a_summary_replaces_changes_that_do_not_fit() {
    let buffer = buffer(2);
    for text in ["a", "b", "c", "d"] {
        buffer.push_coalesced(text.to_owned(), || "all".to_owned());
    }
    buffer.finish();
    let mut reader = buffer.reader();
    let mut messages = Vec::new();
    while let Some(text) = next(&mut reader) {
        messages.push(text);
    }
    assert_eq!(messages, ["a", "b", "all"]);
}

#[test]
fn parses_event_ids_and_rejects_everything_else() {
    assert_eq!(parse_event_id("3-14"), Some((3, 14)));
    for bad in ["", "3", "-", "3-", "a-1", "3-1-1", "-3-1"] {
        assert_eq!(parse_event_id(bad), None, "{bad}");
    }
}
