//! Counters of calls, looked up once and then updated without a lock. The counters of a source and
//! method are created at their first call.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tidegate_core::{Source, SourceId};

use super::histogram::DurationHistogram;
use super::metrics::{CallLabels, CallMetrics, MethodLabels, SourceLabels, StatusCounters};
use super::plugin_reads::PluginReads;

/// The label of methods that were not announced.
const OTHER_METHOD: &str = "other";

/// The counters of all calls.
pub(super) struct CallCounters {
    pub(super) metrics: Arc<CallMetrics>,
    methods: Vec<&'static str>,
    sources: HashMap<SourceId, SourceCounters>,
    gateway: SourceCounters,
    pub(super) plugin_reads: PluginReads,
    pub(super) resource_lists: Arc<ListCounters>,
}

struct SourceCounters {
    in_flight: Gauge,
    /// By the index of the method. Created on demand: most sources never get most methods.
    by_method: Box<[OnceLock<Arc<MethodCounters>>]>,
}

/// The counters of one method at one source.
pub(super) struct MethodCounters {
    pub(super) success: Counter,
    pub(super) rejected: Counter,
    pub(super) failed: Counter,
    pub(super) cancelled: Counter,
    pub(super) seconds: DurationHistogram,
    pub(super) in_flight: Gauge,
}

/// The counters of requests for the list of resources.
pub(super) struct ListCounters {
    pub(super) statuses: StatusCounters,
    pub(super) seconds: DurationHistogram,
}

impl CallCounters {
    /// For calls of these methods to these sources and to the gateway itself.
    pub(super) fn new(
        metrics: Arc<CallMetrics>,
        methods: impl IntoIterator<Item = &'static str>,
        sources: &[(SourceId, Arc<dyn Source>)],
    ) -> Self {
        let methods: Vec<_> = methods.into_iter().chain([OTHER_METHOD]).collect();
        let source_counters = |id: &SourceId| SourceCounters {
            in_flight: metrics.in_flight.get_or_create_owned(&SourceLabels {
                source: id.to_string(),
            }),
            by_method: methods.iter().map(|_| OnceLock::new()).collect(),
        };
        let gateway = SourceId::gateway();
        let ids = sources.iter().map(|(id, _)| id);
        Self {
            sources: ids.map(|id| (id.clone(), source_counters(id))).collect(),
            gateway: source_counters(&gateway),
            plugin_reads: PluginReads::new(&metrics, sources),
            resource_lists: Arc::new(ListCounters {
                statuses: metrics.list_statuses(),
                seconds: metrics.list_seconds(gateway.as_str()),
            }),
            methods,
            metrics,
        }
    }

    pub(super) fn find(&self, source: &SourceId, method: &'static str) -> &Arc<MethodCounters> {
        let counters = self.sources.get(source).unwrap_or(&self.gateway);
        let index = self.methods.iter().position(|known| *known == method);
        let index = index.unwrap_or(self.methods.len() - 1);
        counters.by_method[index].get_or_init(|| {
            let in_flight = counters.in_flight.clone();
            Arc::new(self.create(source, self.methods[index], in_flight))
        })
    }

    fn create(&self, source: &SourceId, method: &'static str, in_flight: Gauge) -> MethodCounters {
        let source = source.to_string();
        let counter = |outcome| {
            self.metrics.calls.get_or_create_owned(&CallLabels {
                source: source.clone(),
                method,
                outcome,
            })
        };
        MethodCounters {
            success: counter("success"),
            rejected: counter("rejected"),
            failed: counter("failed"),
            cancelled: counter("cancelled"),
            seconds: self
                .metrics
                .call_seconds
                .get_or_create_owned(&MethodLabels {
                    source: source.clone(),
                    method,
                }),
            in_flight,
        }
    }
}
