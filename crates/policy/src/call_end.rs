//! Reports how a call ended to layers that need to know: completed, failed or cancelled.

use tidegate_core::{Error, Event, EventStream, Outcome, Reply, Result, on_end};

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallEnd<'a> {
    Completed(&'a Outcome),
    Failed(&'a Error),
    /// The call was dropped before it ended: its client disconnected or cancelled it.
    Cancelled,
}

/// Called exactly once, when the call ends.
pub(crate) trait CallEndObserver: Send + 'static {
    fn call_ended(self, end: CallEnd<'_>);
}

/// Awaits a reply and reports how it ended. A streamed reply ends with its last event.
pub(crate) async fn observe_end<O: CallEndObserver>(
    reply: impl Future<Output = Result<Reply>>,
    observer: O,
) -> Result<Reply> {
    let observer = OnceObserver(Some(observer));
    match reply.await {
        Ok(Reply::Done(outcome)) => {
            observer.report(CallEnd::Completed(&outcome));
            Ok(Reply::Done(outcome))
        }
        Ok(Reply::Stream(events)) => Ok(Reply::Stream(observe_events(events, observer))),
        Err(error) => {
            observer.report(CallEnd::Failed(&error));
            Err(error)
        }
    }
}

fn observe_events<O: CallEndObserver>(
    events: EventStream,
    observer: OnceObserver<O>,
) -> EventStream {
    on_end(events, observer, |observer, event| match event {
        Ok(Event::Done(outcome)) => observer.report(CallEnd::Completed(outcome)),
        Err(error) => observer.report(CallEnd::Failed(error)),
        Ok(_) => {}
    })
}

/// Reports `Cancelled` if it is dropped before another end was reported.
struct OnceObserver<O: CallEndObserver>(Option<O>);

impl<O: CallEndObserver> OnceObserver<O> {
    fn report(mut self, end: CallEnd<'_>) {
        if let Some(observer) = self.0.take() {
            observer.call_ended(end);
        }
    }
}

impl<O: CallEndObserver> Drop for OnceObserver<O> {
    fn drop(&mut self) {
        if let Some(observer) = self.0.take() {
            observer.call_ended(CallEnd::Cancelled);
        }
    }
}
