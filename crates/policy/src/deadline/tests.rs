//! The idle and the total timeout, with and without progress.

use tidegate_core::{ChangeFilter, GatewayOperation, Operation};

use super::*;
use crate::scripted::{
    LayerUnderTest, done, drain, events, outcome, progress, question, ready, tool_call,
};

const CALL_TIMEOUT_SECONDS: u64 = 10;
const MAX_CALL_SECONDS: u64 = 60;

fn deadline() -> Deadline {
    Deadline {
        call_timeout: Duration::from_secs(CALL_TIMEOUT_SECONDS),
        max_call_duration: Duration::from_secs(MAX_CALL_SECONDS),
    }
}

/// Reads the reply of a source that streams these events: seconds until the end, events, result.
async fn run(
    script: impl Fn() -> Vec<(u64, Result<Event>)> + Send + Sync + 'static,
) -> (u64, usize, Result<()>) {
    let source = LayerUnderTest::new(deadline(), move |_| ready(events(script())));
    let start = Instant::now();
    let (event_count, result) = drain(source.call(tool_call()).await).await;
    (start.elapsed().as_secs(), event_count, result)
}

fn end() -> Result<Event> {
    Ok(Event::Done(outcome()))
}

#[tokio::test(start_paused = true)]
async fn ends_a_call_without_a_response_after_the_idle_timeout() {
    let source = LayerUnderTest::new(deadline(), |_| Box::pin(std::future::pending()));
    let start = Instant::now();
    let error = source.call(tool_call()).await.unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert_eq!(start.elapsed(), Duration::from_secs(CALL_TIMEOUT_SECONDS));
}

#[tokio::test(start_paused = true)]
async fn each_event_restarts_the_idle_timeout() {
    let script = || {
        vec![
            (8, progress()),
            (8, progress()),
            (8, progress()),
            (8, end()),
        ]
    };
    let (seconds, event_count, result) = run(script).await;
    result.unwrap();
    assert_eq!((seconds, event_count), (32, 3));
}

#[tokio::test(start_paused = true)]
async fn ends_a_stream_that_stops_sending_events() {
    let (seconds, event_count, result) = run(|| vec![(5, progress()), (11, end())]).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert!(error.message().contains("10 s (`call_timeout`)"), "{error}");
    assert_eq!((seconds, event_count), (5 + CALL_TIMEOUT_SECONDS, 1));
}

#[tokio::test(start_paused = true)]
async fn ends_a_stream_at_the_total_timeout_despite_progress() {
    let script = || (0..100).map(|_| (8, progress())).collect();
    let (seconds, event_count, result) = run(script).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert!(
        error.message().contains("60 s (`max_call_duration`)"),
        "{error}"
    );
    assert_eq!((seconds, event_count), (MAX_CALL_SECONDS, 7));
}

#[tokio::test(start_paused = true)]
async fn the_idle_timeout_does_not_run_while_a_question_is_open() {
    let (seconds, _, result) = run(|| vec![(1, question()), (50, end())]).await;
    result.unwrap();
    assert_eq!(seconds, 51);

    let (seconds, _, result) = run(|| vec![(1, question()), (80, end())]).await;
    assert_eq!(result.unwrap_err().code(), Code::Timeout);
    assert_eq!(seconds, MAX_CALL_SECONDS, "but the total timeout does");
}

#[tokio::test(start_paused = true)]
async fn change_streams_have_no_deadline() {
    let source = LayerUnderTest::new(deadline(), |_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(2 * MAX_CALL_SECONDS)).await;
            done()
        })
    });
    let mut call = tool_call();
    call.operation = Operation::Gateway(GatewayOperation::Listen(ChangeFilter::all_lists()));
    source.call(call).await.unwrap();
}
