//! Metrics of the whole gateway: the process and its calls.

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_core::CallStats;

use super::process::{resident_bytes, task_count};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GatewayMetrics {
    version: String,
    uptime_seconds: u64,
    /// Resident memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    /// Tasks of the async runtime. A number that only grows indicates a leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<usize>,
    total_calls: u64,
    failed_calls: u64,
    refused_calls: u64,
    cancelled_calls: u64,
    average_response_ms: f64,
    /// Percentage of calls that did not fail.
    success_rate: f64,
}

impl GatewayMetrics {
    pub(super) fn new(stats: &CallStats) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_seconds: stats.uptime().as_secs(),
            memory_bytes: resident_bytes(),
            tasks: task_count(),
            total_calls: stats.calls(),
            failed_calls: stats.failures(),
            refused_calls: stats.client_errors(),
            cancelled_calls: stats.cancellations(),
            average_response_ms: stats.mean_duration().as_secs_f64() * 1000.0,
            success_rate: success_rate(stats),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage needs no more precision than a float has"
)]
fn success_rate(stats: &CallStats) -> f64 {
    match stats.calls() {
        0 => 100.0,
        calls => 100.0 * (1.0 - stats.failures() as f64 / calls as f64),
    }
}
