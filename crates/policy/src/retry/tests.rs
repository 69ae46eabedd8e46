//! Which failures are retried, how often, and after which delay.

use tidegate_core::Event;
use tokio::time::Instant;

use super::*;
use crate::scripted::{
    LayerUnderTest, done, drain, events, outcome, progress, ready, source_error, tool_call,
};

fn idempotent_call() -> Call {
    Call {
        idempotent: true,
        ..tool_call()
    }
}

/// Fails the first `failures` calls with `code`.
fn failing(failures: u32, code: Code) -> LayerUnderTest {
    LayerUnderTest::new(Retry { max_retries: 3 }, move |number| {
        ready(match number <= failures {
            true => Err(source_error(code)),
            false => done(),
        })
    })
}

#[tokio::test(start_paused = true)]
async fn retries_any_call_that_never_reached_the_source() {
    let source = failing(2, Code::SourceDown);
    let start = Instant::now();
    source.call(tool_call()).await.unwrap();
    assert_eq!(source.source_calls(), 3);
    assert_eq!(start.elapsed(), FIRST_DELAY + FIRST_DELAY * BACKOFF_FACTOR);
}

#[tokio::test(start_paused = true)]
async fn retries_a_call_that_may_have_reached_the_source_only_if_it_is_idempotent() {
    let source = failing(1, Code::SourceFailed);
    source.call(idempotent_call()).await.unwrap();
    assert_eq!(source.source_calls(), 2);

    let source = failing(1, Code::SourceFailed);
    let error = source.call(tool_call()).await.unwrap_err();
    assert_eq!(error.code(), Code::SourceFailed);
    assert_eq!(source.source_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn does_not_retry_responses_timeouts_and_rejections() {
    for error in [
        || source_error(Code::Source(-32000)),
        || source_error(Code::Timeout),
        || Error::client(Code::InvalidParams, "invalid"),
        || {
            Error::new(
                Code::SourceDown,
                ErrorOrigin::Gateway,
                "rejected by another layer",
            )
        },
        || {
            Error::new(
                Code::SourceFailed,
                ErrorOrigin::Gateway,
                "rejected by another layer",
            )
        },
    ] {
        let source = LayerUnderTest::new(Retry { max_retries: 3 }, move |_| ready(Err(error())));
        let code = source.call(idempotent_call()).await.unwrap_err().code();
        assert_eq!(code, error().code());
        assert_eq!(source.source_calls(), 1, "{code:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_the_configured_number_of_retries() {
    let source = failing(u32::MAX, Code::SourceDown);
    let error = source.call(tool_call()).await.unwrap_err();
    assert_eq!(error.code(), Code::SourceDown);
    assert_eq!(source.source_calls(), 4, "one call and three retries");
}

#[tokio::test(start_paused = true)]
async fn retries_a_stream_that_starts_with_an_error() {
    let source = LayerUnderTest::new(Retry { max_retries: 1 }, |number| {
        ready(match number {
            1 => events(vec![(1, Err(source_error(Code::SourceFailed)))]),
            _ => events(vec![(1, progress()), (1, Ok(Event::Done(outcome())))]),
        })
    });
    let (event_count, result) = drain(source.call(idempotent_call()).await).await;
    result.unwrap();
    assert_eq!((event_count, source.source_calls()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn does_not_retry_a_stream_that_fails_after_its_first_event() {
    let source = LayerUnderTest::new(Retry { max_retries: 1 }, |_| {
        let failure = Err(source_error(Code::SourceFailed));
        ready(events(vec![(0, progress()), (0, failure)]))
    });
    let (event_count, result) = drain(source.call(idempotent_call()).await).await;
    assert_eq!(result.unwrap_err().code(), Code::SourceFailed);
    assert_eq!((event_count, source.source_calls()), (1, 1));
}
