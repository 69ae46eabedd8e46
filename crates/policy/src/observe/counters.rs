//! What is counted of calls, ready to be touched: no lock is taken and nothing is made up on the way
//! of a call, but for the first of its kind.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tidegate_core::{Source, SourceId};

use super::latency::Latency;
use super::metrics::{CallLabels, CallMetrics, MethodLabels, SourceLabels, Statuses};
use super::reads::Reads;

/// What stands for a method that was not announced.
const OTHER: &str = "other";

/// The figures of all calls, by what they are about.
pub(super) struct Tally {
    pub(super) figures: Arc<CallMetrics>,
    methods: Vec<&'static str>,
    sources: HashMap<SourceId, OfSource>,
    gateway: OfSource,
    pub(super) reads: Reads,
    pub(super) lists: Arc<OfLists>,
}

struct OfSource {
    in_flight: Gauge,
    /// By the place of the method. Most sources are never asked by most methods.
    by_method: Box<[OnceLock<Arc<OfCalls>>]>,
}

/// The figures of the calls at one source by one method.
pub(super) struct OfCalls {
    pub(super) success: Counter,
    pub(super) refused: Counter,
    pub(super) failed: Counter,
    pub(super) cancelled: Counter,
    pub(super) seconds: Latency,
    pub(super) in_flight: Gauge,
}

/// The figures of the list of resources.
pub(super) struct OfLists {
    pub(super) statuses: Statuses,
    pub(super) seconds: Latency,
}

impl Tally {
    /// For calls by these methods at these sources, and at the gateway itself.
    pub(super) fn new(
        figures: Arc<CallMetrics>,
        methods: impl IntoIterator<Item = &'static str>,
        sources: &[(SourceId, Arc<dyn Source>)],
    ) -> Self {
        let methods: Vec<_> = methods.into_iter().chain([OTHER]).collect();
        let of_source = |id: &SourceId| OfSource {
            in_flight: figures.in_flight.get_or_create_owned(&SourceLabels {
                source: id.to_string(),
            }),
            by_method: methods.iter().map(|_| OnceLock::new()).collect(),
        };
        let gateway = SourceId::gateway();
        let ids = sources.iter().map(|(id, _)| id);
        Self {
            sources: ids.map(|id| (id.clone(), of_source(id))).collect(),
            gateway: of_source(&gateway),
            reads: Reads::new(&figures, sources),
            lists: Arc::new(OfLists {
                statuses: figures.lists(),
                seconds: figures.list_seconds(gateway.as_str()),
            }),
            methods,
            figures,
        }
    }

    pub(super) fn of_calls(&self, source: &SourceId, method: &'static str) -> &Arc<OfCalls> {
        let of_source = self.sources.get(source).unwrap_or(&self.gateway);
        let place = self.methods.iter().position(|known| *known == method);
        let place = place.unwrap_or(self.methods.len() - 1);
        of_source.by_method[place]
            .get_or_init(|| Arc::new(self.begin(source, self.methods[place], of_source)))
    }

    fn begin(&self, source: &SourceId, method: &'static str, of_source: &OfSource) -> OfCalls {
        let source = source.to_string();
        let counter = |outcome| {
            self.figures.calls.get_or_create_owned(&CallLabels {
                source: source.clone(),
                method,
                outcome,
            })
        };
        OfCalls {
            success: counter("success"),
            refused: counter("refused"),
            failed: counter("failed"),
            cancelled: counter("cancelled"),
            seconds: self
                .figures
                .call_seconds
                .get_or_create_owned(&MethodLabels {
                    source: source.clone(),
                    method,
                }),
            in_flight: of_source.in_flight.clone(),
        }
    }
}
