//! Combinators over replies and their event streams.

use futures_util::stream::{self, StreamExt};

use super::{Event, EventStream, Outcome, Reply};
use crate::{Code, Error, ErrorOrigin, Result};

impl Event {
    /// Whether a reply ends with this event.
    pub fn is_last(event: &Result<Self>) -> bool {
        matches!(event, Ok(Self::Done(_)) | Err(_))
    }
}

impl Reply {
    /// Applies `map` to the outcome, or to the error that takes its place.
    pub fn map_result(
        reply: Result<Self>,
        mut map: impl FnMut(Result<Outcome>) -> Result<Outcome> + Send + 'static,
    ) -> Result<Self> {
        match reply {
            Ok(Self::Done(outcome)) => map(Ok(outcome)).map(Self::Done),
            Ok(Self::Stream(events)) => {
                let events = events.map(move |event| match event {
                    Ok(Event::Done(outcome)) => map(Ok(outcome)).map(Event::Done),
                    Err(error) => map(Err(error)).map(Event::Done),
                    event => event,
                });
                Ok(Self::Stream(events.boxed()))
            }
            Err(error) => map(Err(error)).map(Self::Done),
        }
    }

    /// Holds `guard` until the reply has ended or is dropped.
    #[must_use]
    pub fn hold(self, guard: impl Send + 'static) -> Self {
        match self {
            Self::Done(_) => self,
            Self::Stream(events) => Self::Stream(on_end(events, guard, |_, _| ())),
        }
    }

    /// The outcome, without the events before it.
    pub(crate) async fn into_outcome(self) -> Result<Outcome> {
        let mut events = match self {
            Self::Done(outcome) => return Ok(outcome),
            Self::Stream(events) => events,
        };
        while let Some(event) = events.next().await {
            if let Event::Done(outcome) = event? {
                return Ok(outcome);
            }
        }
        let message = "it ended its reply without a result";
        Err(Error::new(Code::SourceFailed, ErrorOrigin::Source, message))
    }

    /// Waits for the first event. An error in its place is the error of the whole reply.
    pub async fn wait_for_first_event(self) -> Result<Self> {
        let mut events = match self {
            Self::Stream(events) => events,
            Self::Done(_) => return Ok(self),
        };
        match events.next().await {
            Some(Err(error)) => Err(error),
            Some(first) => Ok(Self::Stream(stream::iter([first]).chain(events).boxed())),
            None => Ok(Self::Stream(stream::empty().boxed())),
        }
    }
}

/// Passes `guard` to `end` with the last event. If the stream is dropped before that, so is `guard`.
pub fn on_end<G: Send + 'static>(
    events: EventStream,
    guard: G,
    end: impl FnOnce(G, &Result<Event>) + Send + 'static,
) -> EventStream {
    let mut guarded = Some((guard, end));
    let events = events.map(move |event| {
        if Event::is_last(&event)
            && let Some((guard, end)) = guarded.take()
        {
            end(guard, &event);
        }
        event
    });
    events.boxed()
}

/// The events that `next` makes from a state, up to the first outcome or error.
pub fn unfold_events<S, F>(state: S, mut next: impl FnMut(S) -> F + Send + 'static) -> EventStream
where
    S: Send + 'static,
    F: Future<Output = (Result<Event>, S)> + Send + 'static,
{
    let events = stream::unfold(Some(state), move |state| {
        let step = state.map(&mut next);
        async {
            let (event, state) = step?.await;
            let is_last = Event::is_last(&event);
            Some((event, (!is_last).then_some(state)))
        }
    });
    events.boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Error, RawJson};

    fn done() -> Outcome {
        Outcome::complete(RawJson::empty_object())
    }

    fn stream_of(events: impl IntoIterator<Item = Result<Event>>) -> EventStream {
        stream::iter(events.into_iter().collect::<Vec<_>>()).boxed()
    }

    #[tokio::test]
    async fn a_guard_is_held_until_the_last_event() {
        let guard = Arc::new(());
        let events = [Ok(Event::KeepAlive), Ok(Event::Done(done()))];
        let reply = Reply::Stream(stream_of(events)).hold(Arc::clone(&guard));
        let Reply::Stream(mut events) = reply else {
            unreachable!("a stream stays a stream");
        };
        events.next().await;
        assert_eq!(Arc::strong_count(&guard), 2);
        events.next().await;
        assert_eq!(Arc::strong_count(&guard), 1);
    }

    #[tokio::test]
    async fn a_first_error_is_the_error_of_the_reply() {
        let failed = Reply::Stream(stream_of([Err(Error::internal("failed"))]));
        assert!(failed.wait_for_first_event().await.is_err());
        let streaming = Reply::Stream(stream_of([Ok(Event::KeepAlive), Ok(Event::Done(done()))]));
        let Ok(Reply::Stream(events)) = streaming.wait_for_first_event().await else {
            unreachable!("it begins with an event");
        };
        assert_eq!(events.count().await, 2);
    }

    #[tokio::test]
    async fn unfolding_stops_after_the_outcome() {
        let events = unfold_events(0, |count| async move {
            let event = match count {
                2 => Event::Done(done()),
                _ => Event::KeepAlive,
            };
            (Ok(event), count + 1)
        });
        assert_eq!(events.count().await, 3);
    }
}
