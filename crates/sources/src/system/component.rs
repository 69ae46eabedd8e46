//! The health of one component: a source, or a part of the gateway.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_core::{
    Caller, Catalog, ClientContext, ComponentHealth, GaugeValue, Health, HealthCheck, List, Source,
    SourceId, Viewer,
};

/// Ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(super) enum ComponentStatus {
    Healthy,
    Warning,
    Critical,
}

impl ComponentStatus {
    pub(super) fn percentage(self) -> u64 {
        match self {
            Self::Healthy => 100,
            Self::Warning => 60,
            Self::Critical => 0,
        }
    }
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) status: ComponentStatus,
    pub(super) message: String,
    /// Duration of its last response.
    response_time_ms: f64,
    is_connected: bool,
    metrics: BTreeMap<String, u64>,
    /// The open processes or sessions of each principal. Only for administrators.
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<BTreeMap<String, u64>>,
}

impl Component {
    pub(super) fn of_source(id: &SourceId, source: &dyn Source, caller: &Caller) -> Self {
        let component = Self::timed(id.to_string(), || {
            let viewer = Viewer {
                caller,
                client: &ClientContext::of_gateway(),
            };
            let catalog = source.catalog(&viewer);
            let details = source.failure_details().filter(|_| caller.admin);
            let health = match (source.health(), details) {
                (Health::Critical(reason), Some(details)) => {
                    Health::Critical(format!("{reason}\n{details}"))
                }
                (health, _) => health,
            };
            ComponentHealth {
                health,
                response_time: None,
                gauges: [element_counts(&catalog), source.gauges()].concat(),
            }
        });
        let connections = caller.admin.then(|| source.connections());
        let connections = connections.map(BTreeMap::from_iter);
        Self {
            connections: connections.filter(|connections| !connections.is_empty()),
            ..component
        }
    }

    /// The system source itself, which answers if this report is made.
    pub(super) fn of_system(catalog: &Arc<Catalog>) -> Self {
        Self::timed("system".to_owned(), || ComponentHealth {
            gauges: element_counts(catalog),
            ..ComponentHealth::healthy()
        })
    }

    pub(super) fn of_check(check: &dyn HealthCheck) -> Self {
        Self::timed(check.name().to_owned(), || check.report())
    }

    /// If the component reports no response time, the time to report its health is used.
    fn timed(name: String, report: impl FnOnce() -> ComponentHealth) -> Self {
        let started = Instant::now();
        let report = report();
        let response_time = report.response_time.unwrap_or_else(|| started.elapsed());
        Self::new(name, report, response_time)
    }

    fn new(name: String, report: ComponentHealth, response_time: Duration) -> Self {
        let (status, message) = match report.health {
            Health::Healthy => (ComponentStatus::Healthy, "ok".to_owned()),
            Health::Warning(message) => (ComponentStatus::Warning, message),
            Health::Critical(message) => (ComponentStatus::Critical, message),
        };
        Self {
            name,
            status,
            message,
            response_time_ms: response_time.as_secs_f64() * 1000.0,
            is_connected: status != ComponentStatus::Critical,
            metrics: report
                .gauges
                .iter()
                .map(|gauge| (gauge.name.to_owned(), gauge.value))
                .collect(),
            connections: None,
        }
    }
}

/// The number of elements of each kind. Only sources have these gauges.
fn element_counts(catalog: &Catalog) -> Vec<GaugeValue> {
    let count = |name, list| GaugeValue {
        name,
        value: u64::try_from(catalog.list(list).len()).unwrap_or(u64::MAX),
    };
    vec![
        count("tools", List::Tools),
        count("prompts", List::Prompts),
        count("resources", List::Resources),
        count("templates", List::Templates),
        GaugeValue {
            name: "missing",
            value: catalog.incomplete_lists(),
        },
    ]
}
