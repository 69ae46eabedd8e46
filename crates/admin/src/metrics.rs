//! The metrics page in the OpenMetrics text format: counters of other components, and metrics that
//! are collected when the page is scraped.

mod components;
mod process;
mod sample;

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tidegate_core::{HealthCheck, Metric, Source, SourceId};

use components::Components;
use process::ProcessCollector;

/// The metrics that are collected at each scrape.
pub const METRICS: &[&[Metric]] = &[components::METRICS, process::METRICS];

/// The metrics page.
pub struct Metrics {
    registry: Registry,
}

impl Metrics {
    /// Adds the metrics of sources, gateway components and the process to a registry of counters.
    pub fn new(
        mut registry: Registry,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        components: Vec<Arc<dyn HealthCheck>>,
    ) -> Self {
        registry.register_collector(Box::new(Components {
            sources,
            components,
        }));
        registry.register_collector(Box::new(ProcessCollector));
        Self { registry }
    }

    /// The page with the current values.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Only the writer or a custom metric can fail: neither does here.
        encode(&mut text, &self.registry).ok();
        text
    }
}
