//! How a call ends, for layers that want to know: an answer, a failure, or nobody waits any more.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{Error, Event, EventStream, Outcome, Reply, Result};

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending<'a> {
    Answered(&'a Outcome),
    Failed(&'a Error),
    /// Whoever asked has gone.
    Dropped,
}

/// Is told once.
pub(crate) trait Watcher: Send + 'static {
    fn ended(self, how: Ending<'_>);
}

/// Goes on with a call, and tells how it ended.
pub(crate) async fn watched<W: Watcher>(
    reply: impl Future<Output = Result<Reply>>,
    watcher: W,
) -> Result<Reply> {
    let told = Told(Some(watcher));
    match reply.await {
        Ok(Reply::Done(outcome)) => {
            told.tell(Ending::Answered(&outcome));
            Ok(Reply::Done(outcome))
        }
        Ok(Reply::Stream(events)) => Ok(Reply::Stream(watched_events(events, told))),
        Err(error) => {
            told.tell(Ending::Failed(&error));
            Err(error)
        }
    }
}

fn watched_events<W: Watcher>(events: EventStream, told: Told<W>) -> EventStream {
    stream::unfold(Some((events, told)), |state| async {
        let (mut events, told) = state?;
        let event = events.next().await?;
        match &event {
            Ok(Event::Done(outcome)) => told.tell(Ending::Answered(outcome)),
            Err(error) => told.tell(Ending::Failed(error)),
            Ok(_) => return Some((event, Some((events, told)))),
        }
        Some((event, None))
    })
    .boxed()
}

/// Tells once: when the call ends, or when it is dropped.
struct Told<W: Watcher>(Option<W>);

impl<W: Watcher> Told<W> {
    fn tell(mut self, how: Ending<'_>) {
        if let Some(watcher) = self.0.take() {
            watcher.ended(how);
        }
    }
}

impl<W: Watcher> Drop for Told<W> {
    fn drop(&mut self) {
        if let Some(watcher) = self.0.take() {
            watcher.ended(Ending::Dropped);
        }
    }
}
