//! The layer that sees every call: it counts each once, and logs each failure once, with its cause.

mod counters;
mod latency;
mod log;
mod metrics;
mod reads;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use tidegate_core::{
    BoxFuture, Call, CallStats, Code, CorrelationId, Error, ErrorOrigin, GatewayOperation, Layer,
    List, Next, Operation, Outcome, Principal, Reply, Result, Source, SourceId, Step,
    truncate_for_message,
};

use crate::call_outcome::{Ending, Watcher, watched};
use counters::{OfCalls, OfLists, Tally};
pub use metrics::{CallMetrics, METRICS};
use reads::Read;

/// Counts and logs calls.
pub struct Observe(Arc<Observed>);

struct Observed {
    stats: Arc<CallStats>,
    tally: Tally,
    kind: fn(Code) -> &'static str,
}

/// What clients call things, for labels: this crate knows neither methods nor kinds of errors by name.
pub struct Words {
    /// The methods that clients ask by.
    pub methods: Vec<&'static str>,
    /// The kind of an error.
    pub kind: fn(Code) -> &'static str,
}

impl Observe {
    /// Watches calls at these sources.
    pub fn new(
        stats: Arc<CallStats>,
        figures: Arc<CallMetrics>,
        words: Words,
        sources: &[(SourceId, Arc<dyn Source>)],
    ) -> Self {
        Self(Arc::new(Observed {
            stats,
            tally: Tally::new(figures, words.methods, sources),
            kind: words.kind,
        }))
    }
}

impl Layer for Observe {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        let watch = Watch::new(&self.0, &call);
        watch.begins();
        Box::pin(watched(next.run(call), watch))
    }
}

/// One call under watch.
struct Watch {
    observed: Arc<Observed>,
    figures: Arc<OfCalls>,
    started: Instant,
    label: &'static str,
    source: SourceId,
    principal: Principal,
    correlation: CorrelationId,
    /// A stream of changes lasts as long as its client wants it: its time says nothing.
    standing: bool,
    about: About,
}

/// What a call is about, where it is counted and logged by a name of its own.
enum About {
    Anything,
    /// A resource of a built-in source.
    Plugin {
        read: Arc<Read>,
        uri: String,
    },
    /// The list of resources.
    Resources(Arc<OfLists>),
}

impl About {
    fn new(tally: &Tally, call: &Call) -> Self {
        match &call.operation {
            Operation::Gateway(GatewayOperation::List {
                list: List::Resources,
                ..
            }) => Self::Resources(Arc::clone(&tally.lists)),
            _ => match tally.reads.of(call) {
                Some((read, uri)) => Self::Plugin {
                    read: Arc::clone(read),
                    uri: truncate_for_message(uri),
                },
                None => Self::Anything,
            },
        }
    }
}

impl Watch {
    fn new(observed: &Arc<Observed>, call: &Call) -> Self {
        let tally = &observed.tally;
        Self {
            observed: Arc::clone(observed),
            figures: Arc::clone(tally.of_calls(&call.source, call.label)),
            started: Instant::now(),
            label: call.label,
            source: call.source.clone(),
            principal: call.caller.principal.clone(),
            correlation: call.correlation,
            standing: call.is_listen(),
            about: About::new(tally, call),
        }
    }

    fn begins(&self) {
        if !self.standing {
            self.figures.in_flight.inc();
        }
        self.say_begun();
    }

    fn succeeded(&self, outcome: &Outcome) {
        let took = self.started.elapsed();
        self.figures.success.inc();
        if !self.standing {
            self.observed.stats.record_success(took);
            self.figures.seconds.took(took);
        }
        match &self.about {
            About::Anything => {}
            About::Plugin { read, .. } => {
                read.statuses.success.inc();
            }
            About::Resources(lists) => {
                lists.statuses.success.inc();
                lists.seconds.took(took);
            }
        }
        self.say_succeeded(outcome, took);
    }

    fn failed(&self, error: &Error) {
        let took = self.started.elapsed();
        match error.origin() {
            ErrorOrigin::Client => {
                self.observed.stats.record_client_error(took);
                self.figures.refused.inc();
            }
            ErrorOrigin::Gateway | ErrorOrigin::Source => {
                self.observed.stats.record_failure(took);
                self.figures.failed.inc();
            }
        }
        self.figures.seconds.took(took);
        let kind = (self.observed.kind)(error.code());
        self.observed.tally.figures.erred(self.step(error), kind);
        match &self.about {
            About::Anything => {}
            About::Plugin { read, .. } => {
                read.statuses.failure.inc();
            }
            About::Resources(lists) => {
                lists.statuses.failure.inc();
                lists.seconds.took(took);
            }
        }
        self.say_failed(error, took);
    }

    /// Where the call ended that failed so. What no source has is refused as the gateway's.
    fn step(&self, error: &Error) -> Step {
        match error.code() {
            Code::Forbidden | Code::RateLimited | Code::Timeout | Code::Unavailable => Step::Govern,
            Code::HeaderMismatch => Step::Lift,
            Code::UnknownTarget | Code::ResourceNotFound if self.source == SourceId::gateway() => {
                Step::Resolve
            }
            _ => Step::Serve,
        }
    }

    fn cancelled(&self) {
        self.figures.cancelled.inc();
        if !self.standing {
            self.observed.stats.record_cancellation();
        }
        match &self.about {
            About::Anything => {}
            About::Plugin { read, .. } => {
                read.statuses.cancelled.inc();
            }
            About::Resources(lists) => {
                lists.statuses.cancelled.inc();
            }
        }
        self.say_cancelled();
    }
}

impl Watcher for Watch {
    fn ended(self, how: Ending<'_>) {
        if !self.standing {
            self.figures.in_flight.dec();
        }
        match how {
            Ending::Answered(outcome) => self.succeeded(outcome),
            Ending::Failed(error) => self.failed(error),
            Ending::Dropped => self.cancelled(),
        }
    }
}
