//! The metric families of calls and their labels. Knows nothing about calls themselves.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Metric as Collector, Registry};
use tidegate_core::{Metric, MetricKind, Step};

use super::histogram::DurationHistogram;

const CALLS: Metric = Metric {
    name: "tidegate_calls_total",
    kind: MetricKind::Counter,
    labels: &["source", "method", "outcome"],
    meaning: "Finished calls. The outcome is `success` (including tool results with `isError`), \
              `rejected` (client error), `failed` (error of the source or the gateway) or \
              `cancelled`. Calls that no source can serve have the source `gateway`",
};

const CALL_SECONDS: Metric = Metric {
    name: "tidegate_call_duration_seconds",
    kind: MetricKind::Histogram,
    labels: &["source", "method"],
    meaning: "Duration of calls, from routing to the last event of the response. Without cancelled \
              calls and change streams",
};

const IN_FLIGHT: Metric = Metric {
    name: "tidegate_calls_in_flight",
    kind: MetricKind::Gauge,
    labels: &["source"],
    meaning: "Calls in flight, without change streams",
};

const ERRORS: Metric = Metric {
    name: "tidegate_errors_total",
    kind: MetricKind::Counter,
    labels: &["step", "kind"],
    meaning: "Requests that ended with an error, by the processing step that failed and by the error \
              kind, which clients get as `data.kind`",
};

const READS: Metric = Metric {
    name: "plugin_resource_reads_total",
    kind: MetricKind::Counter,
    labels: &["plugin", "resource", "status"],
    meaning: "Reads of `plugin://` resources of built-in sources. The resource is its declared name, \
              or the URI template that matched, or `unknown`. The status is `success`, `failure` or \
              `cancelled`",
};

const LISTS: Metric = Metric {
    name: "mcp_resources_list_requests_total",
    kind: MetricKind::Counter,
    labels: &["status"],
    meaning: "Requests for the list of resources. The status is `success`, `failure` or `cancelled`",
};

const LIST_SECONDS: Metric = Metric {
    name: "mcp_resources_list_duration_seconds",
    kind: MetricKind::Histogram,
    labels: &["provider"],
    meaning: "Duration of resource lists. The provider `gateway` is the response to a client, which \
              comes from a snapshot. Other providers are remote servers: the time to load all pages of \
              their list in the background. Built-in sources have their lists in memory and are not \
              measured",
};

/// The metrics of this layer.
pub const METRICS: &[Metric] = &[
    CALLS,
    CALL_SECONDS,
    IN_FLIGHT,
    ERRORS,
    READS,
    LISTS,
    LIST_SECONDS,
];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct CallLabels {
    pub(super) source: String,
    pub(super) method: &'static str,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct MethodLabels {
    pub(super) source: String,
    pub(super) method: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct SourceLabels {
    pub(super) source: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ErrorLabels {
    step: &'static str,
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReadLabels {
    plugin: String,
    resource: String,
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StatusLabels {
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ProviderLabels {
    provider: String,
}

/// All metric families of calls. Shared between the layer that counts and the metrics page.
#[derive(Default)]
pub struct CallMetrics {
    pub(super) calls: Family<CallLabels, Counter>,
    pub(super) call_seconds: Family<MethodLabels, DurationHistogram>,
    pub(super) in_flight: Family<SourceLabels, Gauge>,
    errors: Family<ErrorLabels, Counter>,
    reads: Family<ReadLabels, Counter>,
    lists: Family<StatusLabels, Counter>,
    list_seconds: Family<ProviderLabels, DurationHistogram>,
}

/// How often something succeeded, failed or was cancelled.
pub(super) struct StatusCounters {
    pub(super) success: Counter,
    pub(super) failure: Counter,
    pub(super) cancelled: Counter,
}

impl StatusCounters {
    fn new(counter: impl Fn(&'static str) -> Counter) -> Self {
        Self {
            success: counter("success"),
            failure: counter("failure"),
            cancelled: counter("cancelled"),
        }
    }
}

/// The counters of one declared resource or template.
pub(super) struct ReadCounters {
    pub(super) plugin: String,
    pub(super) resource: String,
    pub(super) statuses: StatusCounters,
}

impl CallMetrics {
    /// Records how long it took to load a remote server's list of resources.
    pub fn resource_list_loaded(&self, source: &str, duration: Duration) {
        self.list_seconds(source).observe(duration);
    }

    /// Counts a request that ended with an error.
    pub fn count_error(&self, step: Step, kind: &'static str) {
        let step = step.as_str();
        self.errors.get_or_create(&ErrorLabels { step, kind }).inc();
    }

    /// Adds all families to a registry.
    pub fn register(&self, registry: &mut Registry) {
        add(registry, &CALLS, &self.calls);
        add(registry, &CALL_SECONDS, &self.call_seconds);
        add(registry, &IN_FLIGHT, &self.in_flight);
        add(registry, &ERRORS, &self.errors);
        add(registry, &READS, &self.reads);
        add(registry, &LISTS, &self.lists);
        add(registry, &LIST_SECONDS, &self.list_seconds);
    }

    pub(super) fn read_counters(&self, plugin: &str, resource: &str) -> Arc<ReadCounters> {
        let counter = |status| {
            self.reads.get_or_create_owned(&ReadLabels {
                plugin: plugin.to_owned(),
                resource: resource.to_owned(),
                status,
            })
        };
        Arc::new(ReadCounters {
            plugin: plugin.to_owned(),
            resource: resource.to_owned(),
            statuses: StatusCounters::new(counter),
        })
    }

    pub(super) fn list_statuses(&self) -> StatusCounters {
        StatusCounters::new(|status| self.lists.get_or_create_owned(&StatusLabels { status }))
    }

    pub(super) fn list_seconds(&self, provider: &str) -> DurationHistogram {
        self.list_seconds.get_or_create_owned(&ProviderLabels {
            provider: provider.to_owned(),
        })
    }
}

fn add(registry: &mut Registry, metric: &Metric, family: &(impl Collector + Clone)) {
    registry.register(metric.family(), metric.meaning, family.clone());
}
