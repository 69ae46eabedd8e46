//! The limit of concurrent calls, the queue, and when permits are released.

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::*;
use crate::scripted::{LayerUnderTest, done, events, progress, ready, tool_call};

const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

/// Two calls at a time, at a source that answers a call for each permit of the returned semaphore.
fn two_at_a_time() -> (LayerUnderTest, Arc<Semaphore>) {
    let responses = Arc::new(Semaphore::new(0));
    let source = LayerUnderTest::new(Concurrency::new(2, QUEUE_TIMEOUT), {
        let responses = Arc::clone(&responses);
        move |_| {
            let responses = Arc::clone(&responses);
            Box::pin(async move {
                responses.acquire().await.unwrap().forget();
                done()
            })
        }
    });
    (source, responses)
}

/// A call that was polled once.
fn start(source: &LayerUnderTest) -> BoxFuture<'_, Result<Reply>> {
    let mut call = source.call(tool_call());
    assert!((&mut call).now_or_never().is_none(), "the call must wait");
    call
}

/// Asserts that a call completes when it is polled.
fn finish(call: BoxFuture<'_, Result<Reply>>) {
    let reply = call.now_or_never().expect("the call must be finished");
    reply.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_limit_wait_in_order() {
    let (source, responses) = two_at_a_time();
    let (first, _second) = (start(&source), start(&source));
    let (mut third, mut fourth) = (start(&source), start(&source));
    assert_eq!(source.source_calls(), 2, "the others are queued");
    responses.add_permits(1);
    finish(first);
    assert!((&mut fourth).now_or_never().is_none());
    assert_eq!(source.source_calls(), 2, "the third call is next");
    assert!((&mut third).now_or_never().is_none());
    assert_eq!(source.source_calls(), 3);
    // One for the second call, which waits longer.
    responses.add_permits(2);
    finish(third);
}

#[tokio::test(start_paused = true)]
async fn rejects_a_call_when_the_queue_is_full() {
    let (source, _) = two_at_a_time();
    let _in_flight = [start(&source), start(&source)];
    let queued = [start(&source), start(&source)];
    let error = source.call(tool_call()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.origin()),
        (Code::SourceDown, ErrorOrigin::Gateway)
    );
    drop(queued);
    drop(start(&source));
    assert_eq!(
        source.source_calls(),
        2,
        "rejected and queued calls never reached the source"
    );
}

#[tokio::test(start_paused = true)]
async fn a_queued_call_fails_after_the_queue_timeout() {
    let (source, responses) = two_at_a_time();
    let in_flight = [start(&source), start(&source)];
    let begin = Instant::now();
    let error = start(&source).await.unwrap_err();
    assert_eq!(
        (error.code(), error.origin()),
        (Code::SourceDown, ErrorOrigin::Gateway)
    );
    assert_eq!(begin.elapsed(), QUEUE_TIMEOUT);
    responses.add_permits(2);
    in_flight.into_iter().for_each(finish);
    assert_eq!(source.source_calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_releases_its_permit() {
    let (source, _) = two_at_a_time();
    let (first, _second) = (start(&source), start(&source));
    let mut queued = start(&source);
    drop(first);
    assert!((&mut queued).now_or_never().is_none());
    assert_eq!(source.source_calls(), 3, "the queued call took the permit");
}

#[tokio::test(start_paused = true)]
async fn a_stream_keeps_its_permit_until_it_is_dropped() {
    let source = LayerUnderTest::new(Concurrency::new(1, QUEUE_TIMEOUT), |_| {
        ready(events(vec![(1, progress()), (1, progress())]))
    });
    let Ok(Reply::Stream(mut stream)) = source.call(tool_call()).await else {
        panic!("expected a stream");
    };
    stream.next().await.unwrap().unwrap();
    let queued = start(&source);
    assert_eq!(source.source_calls(), 1);
    drop(stream);
    finish(queued);
    assert_eq!(source.source_calls(), 2);
}
