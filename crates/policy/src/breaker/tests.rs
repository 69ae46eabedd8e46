//! The transitions between closed, open and half-open.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use futures_util::FutureExt as _;

use super::circuit::MAX_OPEN_FACTOR;
use super::*;
use crate::scripted::{
    LayerUnderTest, done, drain, events, progress, ready, source_error, tool_call, tool_call_of,
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

async fn fail_as(source: &LayerUnderTest, principal: &str) {
    for _ in 0..3 {
        let error = source.call(tool_call_of(principal)).await.unwrap_err();
        assert_eq!(error.code(), Code::SourceFailed, "{principal}");
    }
}

async fn code_for(source: &LayerUnderTest, principal: &str) -> Option<Code> {
    let reply = source.call(tool_call_of(principal)).await;
    reply.err().map(|error| error.code())
}

#[tokio::test(start_paused = true)]
async fn the_failures_of_one_principal_close_the_source_to_no_other() {
    let (source, fails) = three_failures();
    fail_as(&source, "ada").await;
    assert_eq!(code_for(&source, "ada").await, Some(Code::SourceDown));
    assert_eq!(code_for(&source, "bob").await, Some(Code::SourceFailed));
    fails.store(false, Relaxed);
    assert_eq!(code_for(&source, "bob").await, None);
    assert_eq!(code_for(&source, "ada").await, None, "the source works");
    assert_eq!(source.health(), Health::Healthy);
}

#[tokio::test(start_paused = true)]
async fn the_failures_of_two_principals_close_the_source_to_all() {
    let (source, fails) = three_failures();
    fail_as(&source, "ada").await;
    fail_as(&source, "bob").await;
    assert_eq!(code_for(&source, "eve").await, Some(Code::SourceDown));
    tokio::time::advance(OPEN_DURATION).await;
    fails.store(false, Relaxed);
    assert_eq!(code_for(&source, "eve").await, None);
}

/// One crash ends every call in flight.
#[tokio::test(start_paused = true)]
async fn calls_that_fail_together_are_one_failure() {
    let (crash, crashed) = tokio::sync::watch::channel(());
    let source = LayerUnderTest::new(Breaker::new(3, OPEN_DURATION), move |_| {
        let mut crashed = crashed.clone();
        Box::pin(async move {
            crashed.changed().await.unwrap();
            Err(source_error(Code::SourceFailed))
        })
    });
    let mut calls: Vec<_> = (0..5).map(|_| source.call(tool_call())).collect();
    for call in &mut calls {
        assert!(call.now_or_never().is_none());
    }
    tokio::time::advance(Duration::from_millis(1)).await;
    crash.send(()).unwrap();
    for call in calls {
        call.await.unwrap_err();
    }
    assert_eq!(source.health(), Health::Healthy);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_connects_again_is_tried_at_once() {
    let (source, fails) = three_failures();
    fail(&source, 3).await;
    assert_open(&source).await;
    source.reconnect();
    fails.store(false, Relaxed);
    source.call(tool_call()).await.unwrap();
    assert_eq!(source.health(), Health::Healthy);
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
