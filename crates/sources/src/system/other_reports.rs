//! The model inventory and the statistics of the gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tidegate_core::{CallStats, HealthCheck};

use super::gateway_metrics::GatewayMetrics;

/// The models that were seen in sampling results. No endpoints of models can be configured, so their
/// providers are unknown.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelsReport {
    total_models: usize,
    providers: Vec<String>,
    models: Vec<ModelReport>,
    note: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ModelReport {
    name: String,
    /// Sampling results of this model since the start.
    sampling_count: u64,
}

impl ModelsReport {
    /// Each model, with the number of its sampling results.
    pub(super) fn new(models: BTreeMap<String, u64>) -> Self {
        let models = models.into_iter();
        let models: Vec<_> = models
            .map(|(name, sampling_count)| ModelReport {
                name,
                sampling_count,
            })
            .collect();
        Self {
            total_models: models.len(),
            providers: Vec::new(),
            note: match models.is_empty() {
                true => "no model endpoints are configured, and no sampling result was relayed",
                false => "models in sampling results since the start, as clients named them",
            },
            models,
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
