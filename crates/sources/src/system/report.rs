//! The bodies of the system's resources.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_core::{
    CallStats, Caller, Catalog, ClientContext, ComponentHealth, GaugeValue, Health, HealthCheck,
    List, Source, SourceId, Viewer,
};

use super::memory::resident_bytes;

/// How well something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(super) enum Status {
    Healthy,
    Warning,
    Critical,
}

impl Status {
    fn percentage(self) -> u64 {
        match self {
            Self::Healthy => 100,
            Self::Warning => 60,
            Self::Critical => 0,
        }
    }
}

/// The whole state at one moment.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HealthReport {
    /// The worst status of any component.
    overall_status: Status,
    /// The average over the components: 100 healthy, 60 warning, 0 critical.
    percentage: u64,
    last_checked: String,
    components: Vec<Component>,
    metrics: Metrics,
    alerts: Vec<Alert>,
    recommendations: Vec<String>,
}

#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Component {
    name: String,
    status: Status,
    message: String,
    /// How long its last answer took.
    response_time_ms: f64,
    is_connected: bool,
    metrics: BTreeMap<String, u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    version: String,
    uptime_seconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bytes: Option<u64>,
    /// Things that go on at once inside the gateway. A number that only grows is a leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<usize>,
    total_calls: u64,
    failed_calls: u64,
    refused_calls: u64,
    cancelled_calls: u64,
    average_response_ms: f64,
    /// Calls that did not fail, of all calls, in percent.
    success_rate: f64,
}

#[derive(Serialize, JsonSchema)]
struct Alert {
    severity: Status,
    component: String,
    message: String,
}

impl HealthReport {
    pub(super) fn new(
        stats: &CallStats,
        sources: &[(SourceId, Arc<dyn Source>)],
        probes: &[Arc<dyn HealthCheck>],
        own: &Catalog,
        caller: &Caller,
    ) -> Self {
        let sources = sources
            .iter()
            .map(|(id, source)| Component::of_source(id, source.as_ref(), caller));
        let probes = probes
            .iter()
            .map(|probe| Component::of_probe(probe.as_ref()));
        let own = Component::timed("system".to_owned(), || ComponentHealth {
            gauges: counts(own),
            ..ComponentHealth::good()
        });
        let components = probes.chain(sources).chain([own]);
        Self::of(components.collect(), Metrics::new(stats))
    }

    fn of(components: Vec<Component>, metrics: Metrics) -> Self {
        let statuses = components.iter().map(|component| component.status);
        let count = u64::try_from(components.len()).unwrap_or(u64::MAX);
        let sum: u64 = statuses.clone().map(Status::percentage).sum();
        let unwell = || {
            components
                .iter()
                .filter(|component| component.status != Status::Healthy)
        };
        Self {
            overall_status: statuses.max().unwrap_or(Status::Healthy),
            percentage: sum.checked_div(count).unwrap_or(100),
            last_checked: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            alerts: unwell().map(Component::alert).collect(),
            recommendations: unwell().map(Component::recommendation).collect(),
            components,
            metrics,
        }
    }

    /// What must differ for the state to count as another.
    pub(super) fn statuses(&self) -> Vec<(String, Status)> {
        self.components
            .iter()
            .map(|one| (one.name.clone(), one.status))
            .collect()
    }

    /// The report of one component alone.
    pub(super) fn only(self, name: &str) -> Result<Self, String> {
        let found = self
            .components
            .iter()
            .find(|component| component.name == name)
            .cloned();
        match found {
            Some(component) => Ok(Self::of(vec![component], self.metrics)),
            None => {
                let names: Vec<_> = self
                    .components
                    .iter()
                    .map(|one| one.name.as_str())
                    .collect();
                Err(format!(
                    "no component is called `{name}`; there are {}",
                    names.join(", ")
                ))
            }
        }
    }
}

impl Component {
    fn of_source(id: &SourceId, source: &dyn Source, caller: &Caller) -> Self {
        Self::timed(id.to_string(), || ComponentHealth {
            health: source.health(),
            response_time: None,
            gauges: [counts(&offered(source, caller)), source.gauges()].concat(),
        })
    }

    fn of_probe(probe: &dyn HealthCheck) -> Self {
        Self::timed(probe.name().to_owned(), || probe.report())
    }

    /// Where a part does not say how long its last answer took, its report is the answer.
    fn timed(name: String, report: impl FnOnce() -> ComponentHealth) -> Self {
        let started = Instant::now();
        let report = report();
        let response_time = report.response_time.unwrap_or_else(|| started.elapsed());
        Self::new(name, report, response_time)
    }

    fn new(name: String, report: ComponentHealth, response_time: Duration) -> Self {
        let (status, message) = match report.health {
            Health::Good => (Status::Healthy, "works".to_owned()),
            Health::Degraded(message) => (Status::Warning, message),
            Health::Down(message) => (Status::Critical, message),
        };
        Self {
            name,
            status,
            message,
            response_time_ms: response_time.as_secs_f64() * 1000.0,
            is_connected: status != Status::Critical,
            metrics: report
                .gauges
                .iter()
                .map(|one| (one.name.to_owned(), one.value))
                .collect(),
        }
    }

    fn alert(&self) -> Alert {
        Alert {
            severity: self.status,
            component: self.name.clone(),
            message: self.message.clone(),
        }
    }

    fn recommendation(&self) -> String {
        match self.status {
            Status::Critical => format!("Look at `{}` in the log, and restore it.", self.name),
            Status::Healthy | Status::Warning => {
                format!("Look at `{}` before it stops working.", self.name)
            }
        }
    }
}

/// What a source offers the one who asks.
fn offered(source: &dyn Source, caller: &Caller) -> Arc<Catalog> {
    source.catalog(&Viewer {
        caller,
        client: &ClientContext::of_gateway(),
    })
}

/// How much there is of each kind. Sources have these numbers, and no other component has.
fn counts(catalog: &Catalog) -> Vec<GaugeValue> {
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

impl Metrics {
    fn new(stats: &CallStats) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_seconds: stats.uptime().as_secs(),
            memory_bytes: resident_bytes(),
            tasks: tasks(),
            total_calls: stats.calls(),
            failed_calls: stats.failures(),
            refused_calls: stats.client_errors(),
            cancelled_calls: stats.cancellations(),
            average_response_ms: stats.mean_duration().as_secs_f64() * 1000.0,
            success_rate: success_rate(stats),
        }
    }
}

fn tasks() -> Option<usize> {
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    Some(runtime.metrics().num_alive_tasks())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage needs no more than a float holds"
)]
fn success_rate(stats: &CallStats) -> f64 {
    match stats.calls() {
        0 => 100.0,
        calls => 100.0 * (1.0 - stats.failures() as f64 / calls as f64),
    }
}

/// The models the gateway knows: none until some are configured, and it says so.
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

/// What the gateway has done since it started.
#[derive(Serialize)]
pub(super) struct StatsReport {
    #[serde(flatten)]
    gateway: Metrics,
    sources: usize,
    parts: BTreeMap<String, BTreeMap<String, u64>>,
}

impl StatsReport {
    pub(super) fn new(stats: &CallStats, sources: usize, probes: &[Arc<dyn HealthCheck>]) -> Self {
        let parts = probes.iter().map(|probe| {
            let gauges = probe.report().gauges;
            let gauges = gauges
                .iter()
                .map(|one| (one.name.to_owned(), one.value))
                .collect();
            (probe.name().to_owned(), gauges)
        });
        Self {
            gateway: Metrics::new(stats),
            sources,
            parts: parts.collect(),
        }
    }
}
