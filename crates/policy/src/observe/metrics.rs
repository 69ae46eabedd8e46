//! The families of figures, with their labels. Knows their names, and nothing of calls.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Metric as Collector, Registry};
use tidegate_core::{Metric, MetricKind, Step};

use super::latency::Latency;
use super::reads::Read;

const CALLS: Metric = Metric {
    name: "tidegate_calls_total",
    kind: MetricKind::Counter,
    labels: &["source", "method", "outcome"],
    meaning: "Calls that have ended. The outcome is `success` (also where a tool says that it \
              failed), `refused` (a mistake of the client's), `failed` (a fault of the source or the \
              gateway) or `cancelled`. What no source answers for is the source `gateway`'s",
};

const CALL_SECONDS: Metric = Metric {
    name: "tidegate_call_duration_seconds",
    kind: MetricKind::Histogram,
    labels: &["source", "method"],
    meaning: "How long calls took, from the moment their source was known to the last event of the \
              answer. Cancelled calls and streams of changes are not in it",
};

const IN_FLIGHT: Metric = Metric {
    name: "tidegate_calls_in_flight",
    kind: MetricKind::Gauge,
    labels: &["source"],
    meaning: "Calls under way, without streams of changes",
};

const ERRORS: Metric = Metric {
    name: "tidegate_errors_total",
    kind: MetricKind::Counter,
    labels: &["step", "kind"],
    meaning: "Requests that ended in an error: the step of their way where they did, and the kind that \
              the client is told in `data.kind`",
};

const READS: Metric = Metric {
    name: "plugin_resource_reads_total",
    kind: MetricKind::Counter,
    labels: &["plugin", "resource", "status"],
    meaning: "Reads of `plugin://` resources of built-in sources. The resource is the name it is \
              declared under, of a template the template, else `unknown`; the status is `success`, \
              `failure` or `cancelled`",
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
    meaning: "How long a list of resources took. The provider `gateway` is the answer to a client, \
              which comes from snapshots; any other is a server, and how long it took to take in all \
              pages of its list in the background. Built-in sources have their lists at hand, so \
              there is nothing to measure",
};

/// All that this layer counts.
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

/// All families. Shared by whoever counts and whoever shows; members of one are made once, and then
/// touched without looking them up.
#[derive(Default)]
pub struct CallMetrics {
    pub(super) calls: Family<CallLabels, Counter>,
    pub(super) call_seconds: Family<MethodLabels, Latency>,
    pub(super) in_flight: Family<SourceLabels, Gauge>,
    errors: Family<ErrorLabels, Counter>,
    reads: Family<ReadLabels, Counter>,
    lists: Family<StatusLabels, Counter>,
    list_seconds: Family<ProviderLabels, Latency>,
}

/// How often something ended how.
pub(super) struct Statuses {
    pub(super) success: Counter,
    pub(super) failure: Counter,
    pub(super) cancelled: Counter,
}

impl Statuses {
    fn new(counter: impl Fn(&'static str) -> Counter) -> Self {
        Self {
            success: counter("success"),
            failure: counter("failure"),
            cancelled: counter("cancelled"),
        }
    }
}

impl CallMetrics {
    /// Taking in a server's list of resources took this long.
    pub fn took_in_resources(&self, source: &str, time: Duration) {
        self.list_seconds(source).took(time);
    }

    /// A request ended in an error of this kind.
    pub fn erred(&self, step: Step, kind: &'static str) {
        let step = step.as_str();
        self.errors.get_or_create(&ErrorLabels { step, kind }).inc();
    }

    /// Lets them be scraped.
    pub fn register(&self, registry: &mut Registry) {
        add(registry, &CALLS, &self.calls);
        add(registry, &CALL_SECONDS, &self.call_seconds);
        add(registry, &IN_FLIGHT, &self.in_flight);
        add(registry, &ERRORS, &self.errors);
        add(registry, &READS, &self.reads);
        add(registry, &LISTS, &self.lists);
        add(registry, &LIST_SECONDS, &self.list_seconds);
    }

    pub(super) fn read(&self, plugin: &str, resource: &str) -> Arc<Read> {
        let counter = |status| {
            self.reads.get_or_create_owned(&ReadLabels {
                plugin: plugin.to_owned(),
                resource: resource.to_owned(),
                status,
            })
        };
        Arc::new(Read {
            plugin: plugin.to_owned(),
            resource: resource.to_owned(),
            statuses: Statuses::new(counter),
        })
    }

    pub(super) fn lists(&self) -> Statuses {
        Statuses::new(|status| self.lists.get_or_create_owned(&StatusLabels { status }))
    }

    pub(super) fn list_seconds(&self, provider: &str) -> Latency {
        self.list_seconds.get_or_create_owned(&ProviderLabels {
            provider: provider.to_owned(),
        })
    }
}

fn add(registry: &mut Registry, metric: &Metric, family: &(impl Collector + Clone)) {
    registry.register(metric.family(), metric.meaning, family.clone());
}
