//! The transitions between closed, open and half-open.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures_util::FutureExt as _;

use super::*;
use crate::scripted::{
    LayerUnderTest, done, drain, events, progress, ready, source_error, tool_call,
};

const OPEN_DURATION: Duration = Duration::from_secs(30);

/// A breaker that opens after three failures, in front of a source that fails while the flag is set.
fn three_failures() -> (LayerUnderTest, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(true));
    let source = LayerUnderTest::new(Breaker::new(3, OPEN_DURATION), {
        let fails = Arc::clone(&fails);
        move |_| {
            ready(match fails.load(Relaxed) {
                true => Err(source_error(Code::SourceFailed)),
                false => done(),
            })
        }
    });
    (source, fails)
}

async fn fail(source: &LayerUnderTest, times: u32) {
    for _ in 0..times {
        let error = source.call(tool_call()).await.unwrap_err();
        assert_eq!(error.code(), Code::SourceFailed);
    }
}

/// Asserts that the breaker rejects a call without calling the source.
async fn assert_open(source: &LayerUnderTest) {
    let calls = source.source_calls();
    let error = source.call(tool_call()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.origin()),
        (Code::SourceDown, ErrorOrigin::Gateway)
    );
    assert_eq!(source.source_calls(), calls);
    assert!(matches!(source.health(), Health::Warning(_)));
}

#[tokio::test(start_paused = true)]
async fn opens_after_consecutive_failures() {
    let (source, fails) = three_failures();
    fail(&source, 2).await;
    fails.store(false, Relaxed);
    source.call(tool_call()).await.unwrap();
    fails.store(true, Relaxed);
    fail(&source, 2).await;
    assert_eq!(source.health(), Health::Healthy, "not three in a row");
    fail(&source, 1).await;
    assert_open(&source).await;
}

#[tokio::test(start_paused = true)]
async fn a_successful_trial_closes_it() {
    let (source, fails) = three_failures();
    fail(&source, 3).await;
    tokio::time::advance(OPEN_DURATION).await;
    fails.store(false, Relaxed);
    source.call(tool_call()).await.unwrap();
    assert_eq!(source.health(), Health::Healthy);
    fails.store(true, Relaxed);
    fail(&source, 2).await;
    assert_eq!(source.health(), Health::Healthy, "the count starts again");
}

#[tokio::test(start_paused = true)]
async fn lets_only_one_trial_through_while_half_open() {
    let source = LayerUnderTest::new(Breaker::new(1, OPEN_DURATION), |number| match number {
        1 => ready(Err(source_error(Code::Timeout))),
        _ => Box::pin(std::future::pending()),
    });
    source.call(tool_call()).await.unwrap_err();
    tokio::time::advance(OPEN_DURATION).await;
    let mut trial = source.call(tool_call());
    assert!((&mut trial).now_or_never().is_none());
    assert_open(&source).await;
    assert_eq!(source.source_calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_open_duration_grows_with_each_failed_trial_up_to_a_limit() {
    let (source, _) = three_failures();
    fail(&source, 3).await;
    for factor in (1..=12).map(|opening: u32| opening.min(MAX_OPEN_FACTOR)) {
        tokio::time::advance(OPEN_DURATION * factor - Duration::from_millis(1)).await;
        assert_open(&source).await;
        tokio::time::advance(Duration::from_millis(1)).await;
        fail(&source, 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_trial_lets_the_next_call_be_the_trial() {
    let source = LayerUnderTest::new(Breaker::new(1, OPEN_DURATION), |number| match number {
        1 => ready(Err(source_error(Code::Timeout))),
        2 => Box::pin(std::future::pending()),
        _ => ready(done()),
    });
    source.call(tool_call()).await.unwrap_err();
    tokio::time::advance(OPEN_DURATION).await;
    let mut trial = source.call(tool_call());
    assert!((&mut trial).now_or_never().is_none());
    drop(trial);
    source.call(tool_call()).await.unwrap();
    assert_eq!(source.health(), Health::Healthy);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_with_an_error_is_a_failure() {
    let source = LayerUnderTest::new(Breaker::new(1, OPEN_DURATION), |_| {
        let failure = Err(source_error(Code::Timeout));
        ready(events(vec![(0, progress()), (0, failure)]))
    });
    let (_, result) = drain(source.call(tool_call()).await).await;
    assert_eq!(result.unwrap_err().code(), Code::Timeout);
    assert_open(&source).await;
}

#[tokio::test(start_paused = true)]
async fn error_responses_and_unreachable_sources_are_not_failures() {
    for error in [
        || source_error(Code::SourceDown),
        || source_error(Code::Source(-32000)),
        || Error::resource_not_found("a://b"),
    ] {
        let source =
            LayerUnderTest::new(Breaker::new(1, OPEN_DURATION), move |_| ready(Err(error())));
        for _ in 0..2 {
            let code = source.call(tool_call()).await.unwrap_err().code();
            assert_eq!(code, error().code());
        }
        assert_eq!(source.source_calls(), 2);
        assert_eq!(source.health(), Health::Healthy);
    }
}
