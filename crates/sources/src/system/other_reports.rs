//! The model inventory and the statistics of the gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tidegate_core::{CallStats, HealthCheck};

use super::gateway_metrics::GatewayMetrics;

/// The configured models. None can be configured yet, and the report says so.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelsReport {
    total_models: usize,
    providers: Vec<String>,
    models: Vec<String>,
    note: &'static str,
}

impl Default for ModelsReport {
    fn default() -> Self {
        Self {
            total_models: 0,
            providers: Vec::new(),
            models: Vec::new(),
            note: "no model endpoints are configured",
        }
    }
}

/// Calls since the start, and the gauges of the gateway's parts.
#[derive(Serialize)]
pub(super) struct StatsReport {
    #[serde(flatten)]
    gateway: GatewayMetrics,
    sources: usize,
    parts: BTreeMap<String, BTreeMap<String, u64>>,
}

impl StatsReport {
    pub(super) fn new(stats: &CallStats, sources: usize, checks: &[Arc<dyn HealthCheck>]) -> Self {
        let parts = checks.iter().map(|check| {
            let gauges = check.report().gauges;
            let gauges = gauges
                .iter()
                .map(|gauge| (gauge.name.to_owned(), gauge.value))
                .collect();
            (check.name().to_owned(), gauges)
        });
        Self {
            gateway: GatewayMetrics::new(stats),
            sources,
            parts: parts.collect(),
        }
    }
}
