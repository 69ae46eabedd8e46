//! Which request a message of the server is delivered to.

use tidegate_core::{LoggingLevel, RawJson};

use super::*;

#[tokio::test]
async fn requests_fail_when_the_connection_has_ended() {
    let in_flight = InFlight::new(false);
    let mut before = in_flight.register(1, true, |_| ());
    in_flight.fail_all();
    let mut after = in_flight.register(2, true, |_| ());
    for stream in [&mut before, &mut after] {
        assert!(stream.next().await.unwrap().is_err());
        assert!(stream.next().await.is_none());
    }
}

fn question(kind: QuestionKind) -> ServerMessage {
    let id = RequestId::new(RawJson::parse("1").unwrap()).unwrap();
    let params = RawJson::empty_object();
    ServerMessage::Question { id, kind, params }
}

async fn gets_a_question(stream: &mut ResponseStream) -> bool {
    matches!(
        stream.next().await,
        Some(Ok(ServerMessage::Question { .. }))
    )
}

#[tokio::test]
async fn roots_questions_go_to_any_call_or_wait_for_the_next() {
    let in_flight = InFlight::new(false);
    in_flight.set_declares_roots();
    let asked = in_flight.ask(question(QuestionKind::Roots));
    assert_eq!(asked, Asked::Held(UNCLAIMED_HOLD));
    let _listing = in_flight.register(1, false, |_| ());
    let mut first = in_flight.register(2, true, |_| ());
    assert!(gets_a_question(&mut first).await, "asked before its call");
    let mut second = in_flight.register(3, true, |_| ());
    let asked = in_flight.ask(question(QuestionKind::Roots));
    assert_eq!(asked, Asked::Delivered);
    tokio::select! {
        asked = gets_a_question(&mut first) => assert!(asked),
        asked = gets_a_question(&mut second) => assert!(asked),
    }
}

#[tokio::test]
async fn an_unlinked_question_goes_to_the_oldest_call_that_was_not_asked_yet() {
    let in_flight = InFlight::new(false);
    let mut first = in_flight.register(1, true, |_| ());
    let mut second = in_flight.register(2, true, |_| ());
    for _ in 0..2 {
        assert_eq!(
            in_flight.ask(question(QuestionKind::Elicit)),
            Asked::Delivered
        );
    }
    assert!(gets_a_question(&mut first).await);
    assert!(gets_a_question(&mut second).await);
    assert_eq!(
        in_flight.ask(question(QuestionKind::Sample)),
        Asked::Delivered
    );
    assert!(gets_a_question(&mut second).await, "both were asked");
}

/// Calls may be sent in another order than they are registered in.
#[tokio::test]
async fn an_unlinked_question_goes_to_the_call_that_was_sent_first() {
    let in_flight = InFlight::new(false);
    let mut first = in_flight.register(1, true, |_| ());
    let mut second = in_flight.register(2, true, |_| ());
    let mut third = in_flight.register(3, true, |_| ());
    in_flight.send_in_order(2, |_| ());
    in_flight.send_in_order(1, |_| ());
    for _ in 0..3 {
        in_flight.ask(question(QuestionKind::Elicit));
    }
    for stream in [&mut second, &mut first, &mut third] {
        assert!(gets_a_question(stream).await);
    }
}

#[test]
fn questions_that_nobody_can_answer_or_hold_are_refused() {
    let in_flight = InFlight::new(false);
    assert_eq!(in_flight.ask(question(QuestionKind::Roots)), Asked::Refused);
    in_flight.set_declares_roots();
    assert_eq!(
        in_flight.ask(question(QuestionKind::Elicit)),
        Asked::Refused
    );
    for _ in 0..MAX_HELD {
        assert!(matches!(
            in_flight.ask(question(QuestionKind::Roots)),
            Asked::Held(_)
        ));
    }
    assert_eq!(in_flight.ask(question(QuestionKind::Roots)), Asked::Refused);
}

#[test]
fn a_question_that_nothing_links_to_a_call_is_refused_where_principals_share_the_connection() {
    let in_flight = InFlight::new(true);
    in_flight.set_declares_roots();
    let _call = in_flight.register(1, true, |_| ());
    for kind in [
        QuestionKind::Elicit,
        QuestionKind::Sample,
        QuestionKind::Roots,
    ] {
        assert_eq!(in_flight.ask(question(kind)), Asked::Refused);
    }
}

fn log() -> ServerNotification {
    ServerNotification::Log {
        level: LoggingLevel::Info,
        params: RawJson::empty_object(),
    }
}

/// The only call may be of another principal than the one that the server logs about.
#[tokio::test]
async fn a_log_message_belongs_to_the_only_call_unless_principals_share_the_connection() {
    for is_shared in [false, true] {
        let in_flight = InFlight::new(is_shared);
        let _call = in_flight.register(1, true, |_| ());
        assert_eq!(in_flight.notify(log()).is_some(), is_shared);
        let _other = in_flight.register(2, true, |_| ());
        assert!(in_flight.notify(log()).is_some());
    }
}

/// The reader gets an error because it missed updates, and the server a cancellation.
#[tokio::test]
async fn a_task_stream_that_is_not_read_ends() {
    let in_flight = InFlight::new(false);
    let (cancel, cancelled) = tokio::sync::oneshot::channel();
    let stream = in_flight.register(7, false, |id| cancel.send(id).unwrap());
    for _ in 0..=MAX_QUEUED_MESSAGES {
        let (id, task) = ("t".to_owned(), RawJson::empty_object());
        let request = Some(7);
        in_flight.notify(ServerNotification::Task { request, id, task });
    }
    let messages: Vec<_> = stream.collect().await;
    assert_eq!(messages.len(), MAX_QUEUED_MESSAGES + 1);
    assert!(messages.last().unwrap().is_err());
    assert_eq!(cancelled.await, Ok(7));
}

#[tokio::test]
async fn the_response_fits_into_a_full_queue() {
    let in_flight = InFlight::new(false);
    let stream = in_flight.register(1, true, |_| ());
    for _ in 0..MAX_QUEUED_MESSAGES * 2 {
        let (token, params) = ("1".to_owned(), RawJson::empty_object());
        in_flight.notify(ServerNotification::Progress { token, params });
    }
    let id = RequestId::new(RawJson::parse("1").unwrap()).unwrap();
    let response = || Ok(ResponseBody::Result(RawJson::empty_object()));
    assert!(in_flight.complete(&id, response()));
    assert!(!in_flight.complete(&id, response()), "a second response");
    let messages: Vec<_> = stream.collect().await;
    assert_eq!(messages.len(), MAX_QUEUED_MESSAGES + 1);
    assert!(matches!(
        messages.last(),
        Some(Ok(ServerMessage::Response(_)))
    ));
}

#[tokio::test]
async fn a_held_question_is_answered_once() {
    let in_flight = InFlight::new(false);
    in_flight.set_declares_roots();
    let id = RequestId::new(RawJson::parse("1").unwrap()).unwrap();
    in_flight.ask(question(QuestionKind::Roots));
    assert!(matches!(in_flight.answer_held(&id), Some(Ok(answer)) if answer == no_roots()));
    assert!(in_flight.answer_held(&id).is_none());
    assert!(in_flight.take_unknown_roots() && !in_flight.take_unknown_roots());
    let call = in_flight.register(1, true, |_| ());
    drop(call);
    let asked = in_flight.ask(question(QuestionKind::Roots));
    assert_eq!(asked, Asked::Held(CLAIMED_HOLD));
    assert!(matches!(in_flight.answer_held(&id), Some(Err(_))));
    in_flight.ask(question(QuestionKind::Roots));
    let mut call = in_flight.register(2, true, |_| ());
    assert!(gets_a_question(&mut call).await);
    assert!(in_flight.answer_held(&id).is_none(), "a call has got it");
}
