//! Where messages are routed to, by the place where they arrived.

use futures_util::{FutureExt, StreamExt};
use tidegate_core::ChangeEvent;

use super::*;
use crate::session::notification_queue::{Notifications, QueuedNotification, notification_queue};

fn demultiplexer() -> (Demultiplexer, Notifications) {
    let (sender, notifications) = notification_queue();
    (Demultiplexer::new("s", false, sender), notifications)
}

fn response_to(request: u64) -> MessageOrigin {
    MessageOrigin::ResponseTo {
        request,
        is_error_status: false,
    }
}

fn receive(
    demultiplexer: &Demultiplexer,
    text: &'static str,
    origin: MessageOrigin,
) -> Vec<Routed> {
    demultiplexer.receive(&Bytes::from_static(text.as_bytes()), origin)
}

#[tokio::test]
async fn a_response_reaches_its_request_on_each_transport() {
    let (demultiplexer, _notifications) = demultiplexer();
    let mut stream = demultiplexer.in_flight.register(7, true, |_| ());
    let response = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    assert!(receive(&demultiplexer, response, MessageOrigin::Duplex).is_empty());
    let message = stream.next().now_or_never().flatten();
    assert!(matches!(message, Some(Ok(ServerMessage::Response(_)))));
    let routed = receive(&demultiplexer, response, response_to(7));
    assert!(matches!(
        routed[..],
        [Routed::ToRequest(Ok(ServerMessage::Response(_)))]
    ));
}

#[test]
fn a_response_that_no_request_waits_for_is_counted() {
    let (demultiplexer, _notifications) = demultiplexer();
    let response = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    for origin in [
        MessageOrigin::Duplex,
        MessageOrigin::SessionStream,
        response_to(8),
    ] {
        assert!(receive(&demultiplexer, response, origin).is_empty());
    }
    assert_eq!(demultiplexer.gauges()[1].value, 3);
}

#[test]
fn an_error_status_makes_an_error_with_a_foreign_id_the_response() {
    let (demultiplexer, _notifications) = demultiplexer();
    let error = r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#;
    let origin = MessageOrigin::ResponseTo {
        request: 7,
        is_error_status: true,
    };
    assert_eq!(receive(&demultiplexer, error, origin).len(), 1);
    assert_eq!(receive(&demultiplexer, error, response_to(7)).len(), 0);
}

#[test]
fn a_question_that_no_call_can_get_is_refused() {
    let (demultiplexer, _notifications) = demultiplexer();
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    for origin in [MessageOrigin::Duplex, MessageOrigin::SessionStream] {
        let routed = receive(&demultiplexer, question, origin);
        assert!(matches!(routed[..], [Routed::Reply(_)]), "{origin:?}");
    }
    let routed = receive(&demultiplexer, question, response_to(7));
    assert!(matches!(
        routed[..],
        [Routed::ToRequest(Ok(ServerMessage::Question { .. }))]
    ));
}

#[tokio::test]
async fn list_changes_outside_of_a_response_are_queued() {
    let (demultiplexer, mut notifications) = demultiplexer();
    let change = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for origin in [MessageOrigin::Duplex, MessageOrigin::SessionStream] {
        assert!(receive(&demultiplexer, change, origin).is_empty());
        let queued = notifications.next().now_or_never().flatten();
        let tools_changed = QueuedNotification::Change(ChangeEvent::Change(Change::Tools));
        assert_eq!(queued, Some(tools_changed));
    }
}

#[tokio::test]
async fn an_unreadable_response_fails_its_request() {
    let (demultiplexer, _notifications) = demultiplexer();
    let mut stream = demultiplexer.in_flight.register(7, true, |_| ());
    let unreadable = r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#;
    assert!(receive(&demultiplexer, unreadable, MessageOrigin::Duplex).is_empty());
    assert!(matches!(stream.next().now_or_never(), Some(Some(Err(_)))));
    let routed = receive(&demultiplexer, unreadable, response_to(7));
    assert!(matches!(routed[..], [Routed::ToRequest(Err(_))]));
}
