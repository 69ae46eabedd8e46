//! The metrics page and its labels.

use std::sync::Arc;

use prometheus_client::registry::Registry;
use tidegate_admin::Metrics;
use tidegate_core::{Code, HealthCheck, Source, SourceId, Step};
use tidegate_mcp::codes;
use tidegate_mcp::revision::{Method, MethodKind};
use tidegate_policy::{CallMetrics, MetricLabels};
use tidegate_server::Exposition;

/// The page `/metrics`, with the gauges of these sources and components.
pub(super) fn page(
    call_metrics: &CallMetrics,
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    components: Vec<Arc<dyn HealthCheck>>,
) -> Exposition {
    let mut registry = Registry::default();
    call_metrics.register(&mut registry);
    let metrics = Metrics::new(registry, sources, components);
    Exposition::new(move || metrics.render())
}

/// The label values of methods and errors.
pub(super) fn labels() -> MetricLabels {
    let requests = Method::ALL
        .iter()
        .filter(|method| method.spec().kind == MethodKind::ClientRequest);
    MetricLabels {
        methods: requests.map(|method| method.name()).collect(),
        error_kind,
    }
}

/// Counts the messages that the transports reject.
pub(super) fn count_rejections(
    call_metrics: &Arc<CallMetrics>,
) -> impl Fn(Step, Code) + Send + Sync + 'static {
    let call_metrics = Arc::clone(call_metrics);
    move |step, code| call_metrics.count_error(step, error_kind(code))
}

fn error_kind(code: Code) -> &'static str {
    codes::of(code).kind
}
