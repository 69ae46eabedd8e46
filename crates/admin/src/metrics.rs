//! The page of metrics: figures that others count as they go, and those that are looked up when
//! someone asks, as text in the form of OpenMetrics.

mod components;
mod process;
mod sample;

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tidegate_core::{HealthCheck, Metric, Source, SourceId};

use components::Components;
use process::Process;

/// All that is looked up when someone asks.
pub const METRICS: &[&[Metric]] = &[components::METRICS, process::METRICS];

/// The page.
pub struct Metrics {
    registry: Registry,
}

impl Metrics {
    /// Of these figures, these sources and these parts of the gateway.
    pub fn new(
        mut counted: Registry,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        parts: Vec<Arc<dyn HealthCheck>>,
    ) -> Self {
        counted.register_collector(Box::new(Components { sources, parts }));
        counted.register_collector(Box::new(Process));
        Self { registry: counted }
    }

    /// What the figures are now.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Only a writer or a figure of its own can fail, and a String takes everything.
        encode(&mut text, &self.registry).ok();
        text
    }
}
