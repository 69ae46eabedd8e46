//! Descriptions of metrics. The metrics endpoint and the reference page use the same description.

/// The description of one metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub kind: MetricKind,
    /// The names of its labels. Values come from a fixed set, never from a client.
    pub labels: &'static [&'static str],
    /// What it measures, without a full stop.
    pub meaning: &'static str,
}

/// The Prometheus type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl Metric {
    /// The name of the metric family: without the `_total` of a counter.
    pub fn family(&self) -> &'static str {
        self.name.strip_suffix("_total").unwrap_or(self.name)
    }
}
