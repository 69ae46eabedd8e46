//! The page on metrics, made from the descriptions under which figures are registered.
//!
//! Knows no figure by name.

use tidegate_core::{Metric, MetricKind};

use super::table::{code, table};

const OPENING: &str = include_str!("metrics_opening.md");

/// The page.
pub(super) fn page() -> String {
    let looked_up = tidegate_admin::METRICS.iter().copied().flatten();
    let figures = tidegate_policy::METRICS.iter().chain(looked_up);
    let rows: Vec<[String; 4]> = figures.map(row).collect();
    OPENING.to_owned() + &table(["name", "kind", "labels", "meaning"], &rows)
}

fn row(figure: &Metric) -> [String; 4] {
    let kind = match figure.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Histogram => "histogram",
    };
    let labels: Vec<_> = figure.labels.iter().map(|label| code(label)).collect();
    [
        code(figure.name),
        kind.to_owned(),
        labels.join(", "),
        format!("{}.", figure.meaning),
    ]
}
