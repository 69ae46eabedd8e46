//! The layer that sees every call: it counts each once, and logs each failure once, with its cause.

use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    BoxFuture, Call, CorrelationId, Error, Event, EventStream, Layer, Next, Principal, Reply,
    Result, Side, SourceId, Stats,
};

/// Counts and logs calls.
pub struct Observe {
    pub stats: Arc<Stats>,
}

impl Layer for Observe {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        let watch = Watch::new(Arc::clone(&self.stats), &call);
        Box::pin(async move {
            match next.run(call).await {
                Ok(Reply::Done(outcome)) => {
                    watch.succeeded();
                    Ok(Reply::Done(outcome))
                }
                Ok(Reply::Stream(events)) => Ok(Reply::Stream(watched(events, watch))),
                Err(error) => {
                    watch.failed(&error);
                    Err(error)
                }
            }
        })
    }
}

fn watched(events: EventStream, watch: Watch) -> EventStream {
    stream::unfold(Some((events, watch)), |state| async {
        let (mut events, watch) = state?;
        let event = events.next().await?;
        match &event {
            Ok(Event::Done(_)) => watch.succeeded(),
            Err(error) => watch.failed(error),
            Ok(_) => return Some((event, Some((events, watch)))),
        }
        Some((event, None))
    })
    .boxed()
}

/// One call under watch. Dropped before its end, the call was cancelled.
struct Watch {
    stats: Arc<Stats>,
    started: Instant,
    label: &'static str,
    source: SourceId,
    principal: Principal,
    correlation: CorrelationId,
    /// A stream of changes lasts as long as its client wants it: its time says nothing.
    standing: bool,
    ended: bool,
}

impl Watch {
    fn new(stats: Arc<Stats>, call: &Call) -> Self {
        Self {
            stats,
            started: Instant::now(),
            label: call.label,
            source: call.source.clone(),
            principal: call.caller.principal.clone(),
            correlation: call.correlation,
            standing: call.is_standing(),
            ended: false,
        }
    }

    fn succeeded(mut self) {
        self.ended = true;
        let took = self.started.elapsed();
        if !self.standing {
            self.stats.succeeded(took);
        }
        tracing::debug!(
            method = self.label,
            source = %self.source,
            principal = %self.principal,
            correlation = %self.correlation,
            took_us = took.as_micros(),
            "call done"
        );
    }

    fn failed(mut self, error: &Error) {
        self.ended = true;
        let took = self.started.elapsed();
        let cause = std::error::Error::source(error).map(ToString::to_string);
        match error.side() {
            Side::Client => {
                self.stats.refused(took);
                tracing::info!(
                    method = self.label,
                    source = %self.source,
                    principal = %self.principal,
                    correlation = %self.correlation,
                    code = ?error.code(),
                    error = error.message(),
                    "call refused"
                );
            }
            Side::Gateway | Side::Source => {
                self.stats.failed(took);
                tracing::error!(
                    method = self.label,
                    source = %self.source,
                    principal = %self.principal,
                    correlation = %self.correlation,
                    code = ?error.code(),
                    error = error.message(),
                    cause,
                    took_us = took.as_micros(),
                    "call failed"
                );
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            if !self.standing {
                self.stats.cancelled();
            }
            tracing::debug!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation = %self.correlation,
                "call cancelled"
            );
        }
    }
}
