//! The layer that observes every call: counts it once, and logs each failure once, with its cause.

mod counters;
mod histogram;
mod log;
mod metrics;
mod plugin_reads;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_core::{
    BoxFuture, Call, CallStats, Code, CorrelationId, Error, ErrorOrigin, GatewayOperation, Layer,
    List, Next, Operation, Outcome, Principal, Reply, Result, Source, SourceId, Step,
    truncate_for_message,
};

use crate::call_end::{CallEnd, CallEndObserver, observe_end};
use counters::{CallCounters, ListCounters, MethodCounters};
use metrics::ReadCounters;
pub use metrics::{CallMetrics, METRICS};

/// Counts and logs calls.
pub struct Observe(Arc<ObserveState>);

struct ObserveState {
    stats: Arc<CallStats>,
    counters: CallCounters,
    error_kind: fn(Code) -> &'static str,
}

/// Label values that come from the protocol: this crate knows no method names and no error kinds.
pub struct MetricLabels {
    /// The names of all request methods.
    pub methods: Vec<&'static str>,
    /// The public kind of an error.
    pub error_kind: fn(Code) -> &'static str,
}

impl Observe {
    /// Observes calls to these sources.
    pub fn new(
        stats: Arc<CallStats>,
        metrics: Arc<CallMetrics>,
        labels: MetricLabels,
        sources: &[(SourceId, Arc<dyn Source>)],
    ) -> Self {
        Self(Arc::new(ObserveState {
            stats,
            counters: CallCounters::new(metrics, labels.methods, sources),
            error_kind: labels.error_kind,
        }))
    }
}

impl Layer for Observe {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>> {
        let observed = ObservedCall::new(&self.0, &call);
        observed.started();
        Box::pin(observe_end(next.run(call), observed))
    }
}

/// One call in flight.
struct ObservedCall {
    state: Arc<ObserveState>,
    counters: Arc<MethodCounters>,
    started: Instant,
    label: &'static str,
    source: SourceId,
    principal: Principal,
    correlation_id: CorrelationId,
    /// Whether this is a change stream, whose duration the client determines: it is not measured.
    is_listen: bool,
    kind: CallKind,
}

/// Kinds of calls that have their own counters and log events.
enum CallKind {
    Other,
    /// A read of a `plugin://` resource of a built-in source.
    PluginRead {
        counters: Arc<ReadCounters>,
        uri: String,
    },
    ResourceList(Arc<ListCounters>),
}

impl CallKind {
    fn new(counters: &CallCounters, call: &Call) -> Self {
        match &call.operation {
            Operation::Gateway(GatewayOperation::List {
                list: List::Resources,
                ..
            }) => Self::ResourceList(Arc::clone(&counters.resource_lists)),
            _ => match counters.plugin_reads.find(call) {
                Some((counters, uri)) => Self::PluginRead {
                    counters: Arc::clone(counters),
                    uri: truncate_for_message(uri),
                },
                None => Self::Other,
            },
        }
    }

    /// Counts the end of a call in the counters of its kind.
    fn count(&self, end: CallEnd<'_>, duration: Duration) {
        let (statuses, seconds) = match self {
            Self::Other => return,
            Self::PluginRead { counters, .. } => (&counters.statuses, None),
            Self::ResourceList(lists) => (&lists.statuses, Some(&lists.seconds)),
        };
        let status = match end {
            CallEnd::Completed(_) => &statuses.success,
            CallEnd::Failed(_) => &statuses.failure,
            CallEnd::Cancelled => &statuses.cancelled,
        };
        status.inc();
        if let Some(seconds) = seconds.filter(|_| !matches!(end, CallEnd::Cancelled)) {
            seconds.observe(duration);
        }
    }
}

impl ObservedCall {
    fn new(state: &Arc<ObserveState>, call: &Call) -> Self {
        let counters = &state.counters;
        Self {
            state: Arc::clone(state),
            counters: Arc::clone(counters.find(&call.source, call.label)),
            started: Instant::now(),
            label: call.label,
            source: call.source.clone(),
            principal: call.caller.principal.clone(),
            correlation_id: call.correlation_id,
            is_listen: call.is_listen(),
            kind: CallKind::new(counters, call),
        }
    }

    fn started(&self) {
        if !self.is_listen {
            self.counters.in_flight.inc();
        }
        self.log_started();
    }

    fn completed(&self, outcome: &Outcome, duration: Duration) {
        self.counters.success.inc();
        if !self.is_listen {
            self.state.stats.record_success(duration);
            self.counters.seconds.observe(duration);
        }
        self.log_completed(outcome, duration);
    }

    fn failed(&self, error: &Error, duration: Duration) {
        match error.origin() {
            ErrorOrigin::Client => {
                self.state.stats.record_client_error(duration);
                self.counters.rejected.inc();
            }
            ErrorOrigin::Gateway | ErrorOrigin::Source => {
                self.state.stats.record_failure(duration);
                self.counters.failed.inc();
            }
        }
        self.counters.seconds.observe(duration);
        let kind = (self.state.error_kind)(error.code());
        let metrics = &self.state.counters.metrics;
        // An error that no other step has claimed was created by a layer.
        metrics.count_error(error.step().unwrap_or(Step::Govern), kind);
        self.log_failed(error, duration);
    }

    fn cancelled(&self) {
        self.counters.cancelled.inc();
        if !self.is_listen {
            self.state.stats.record_cancellation();
        }
        self.log_cancelled();
    }
}

impl CallEndObserver for ObservedCall {
    fn call_ended(self, end: CallEnd<'_>) {
        if !self.is_listen {
            self.counters.in_flight.dec();
        }
        let duration = self.started.elapsed();
        self.kind.count(end, duration);
        match end {
            CallEnd::Completed(outcome) => self.completed(outcome, duration),
            CallEnd::Failed(error) => self.failed(error, duration),
            CallEnd::Cancelled => self.cancelled(),
        }
    }
}
