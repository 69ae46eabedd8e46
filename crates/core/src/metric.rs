//! A figure that can be scraped, in words. The name in the metrics and the row on the reference page
//! come from the same description.

/// One figure.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub kind: MetricKind,
    /// The names of its labels. Their values are few, and never a client's own words.
    pub labels: &'static [&'static str],
    /// What it says, without a full stop.
    pub meaning: &'static str,
}

/// How a figure moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How often something took how long.
    Histogram,
}

impl Metric {
    /// The name of the family: what a counter's name ends in is not part of it.
    pub fn family(&self) -> &'static str {
        self.name.strip_suffix("_total").unwrap_or(self.name)
    }
}
