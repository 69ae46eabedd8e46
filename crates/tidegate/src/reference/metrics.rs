//! The page on metrics, generated from their descriptions.
//!
//! Must not know: any metric by name.

use tidegate_core::{Metric, MetricKind};

use super::table::{code, table};

const OPENING: &str = include_str!("metrics_opening.md");

/// The page.
pub(super) fn page() -> String {
    let gauges = tidegate_admin::METRICS.iter().copied().flatten();
    let metrics = tidegate_policy::METRICS.iter().chain(gauges);
    let rows: Vec<[String; 4]> = metrics.map(row).collect();
    OPENING.to_owned() + &table(["name", "kind", "labels", "meaning"], &rows)
}

fn row(metric: &Metric) -> [String; 4] {
    let kind = match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    let labels: Vec<_> = metric.labels.iter().map(|label| code(label)).collect();
    [
        code(metric.name),
        kind.to_owned(),
        labels.join(", "),
        format!("{}.", metric.meaning),
    ]
}
