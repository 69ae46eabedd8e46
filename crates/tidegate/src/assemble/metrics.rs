//! What is counted, put together for `/metrics`.

use std::sync::Arc;

use prometheus_client::registry::Registry;
use tidegate_admin::Metrics;
use tidegate_core::{Code, HealthCheck, Source, SourceId, Step};
use tidegate_mcp::codes;
use tidegate_mcp::revision::{Method, MethodKind};
use tidegate_policy::{CallMetrics, MetricLabels};
use tidegate_server::Exposition;

/// The page, over these sources and parts of the gateway.
pub(super) fn page(
    figures: &CallMetrics,
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    parts: Vec<Arc<dyn HealthCheck>>,
) -> Exposition {
    let mut counted = Registry::default();
    figures.register(&mut counted);
    let metrics = Metrics::new(counted, sources, parts);
    Exposition::new(move || metrics.render())
}

/// The label values of methods and errors.
pub(super) fn labels() -> MetricLabels {
    let all = Method::ALL.iter();
    let asked = all.filter(|method| method.spec().kind == MethodKind::ClientRequest);
    MetricLabels {
        methods: asked.map(|method| method.name()).collect(),
        error_kind,
    }
}

/// Counts the messages that the transports reject.
pub(super) fn count_rejections(
    figures: &Arc<CallMetrics>,
) -> impl Fn(Step, Code) + Send + Sync + 'static {
    let figures = Arc::clone(figures);
    move |step, code| figures.count_error(step, error_kind(code))
}

fn error_kind(code: Code) -> &'static str {
    codes::of(code).kind
}
