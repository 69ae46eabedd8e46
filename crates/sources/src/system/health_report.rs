//! The health of the gateway and all of its components.

use std::sync::Arc;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;
use tidegate_core::{CallStats, Caller, Catalog, HealthCheck, Source, SourceId};

use super::component::{Component, ComponentStatus};
use super::gateway_metrics::GatewayMetrics;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HealthReport {
    /// The worst status of any component.
    overall_status: ComponentStatus,
    /// The average over all components: healthy is 100, warning 60, critical 0.
    percentage: u64,
    last_checked: String,
    components: Vec<Component>,
    metrics: GatewayMetrics,
    alerts: Vec<HealthAlert>,
    recommendations: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct HealthAlert {
    severity: ComponentStatus,
    component: String,
    message: String,
}

impl HealthReport {
    pub(super) fn new(
        stats: &CallStats,
        sources: &[(SourceId, Arc<dyn Source>)],
        checks: &[Arc<dyn HealthCheck>],
        system_catalog: &Arc<Catalog>,
        caller: &Caller,
    ) -> Self {
        let checks = checks.iter();
        let checks = checks.map(|check| Component::of_check(check.as_ref()));
        let sources = sources
            .iter()
            .map(|(id, source)| Component::of_source(id, source.as_ref(), caller));
        let system = Component::of_system(system_catalog);
        let components = checks.chain(sources).chain([system]).collect();
        Self::of(components, GatewayMetrics::new(stats))
    }

    fn of(components: Vec<Component>, metrics: GatewayMetrics) -> Self {
        let statuses = components.iter().map(|component| component.status);
        let count = u64::try_from(components.len()).unwrap_or(u64::MAX);
        let sum: u64 = statuses.clone().map(ComponentStatus::percentage).sum();
        let unhealthy = || {
            components
                .iter()
                .filter(|component| component.status != ComponentStatus::Healthy)
        };
        Self {
            overall_status: statuses.max().unwrap_or(ComponentStatus::Healthy),
            percentage: sum.checked_div(count).unwrap_or(100),
            last_checked: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            alerts: unhealthy().map(alert).collect(),
            recommendations: unhealthy().map(recommendation).collect(),
            components,
            metrics,
        }
    }

    /// The status of each component. Subscribers are notified when it changes.
    pub(super) fn statuses(&self) -> Vec<(String, ComponentStatus)> {
        let components = self.components.iter();
        components
            .map(|component| (component.name.clone(), component.status))
            .collect()
    }

    /// The report of a single component. The error is a message for the caller.
    pub(super) fn only(self, name: &str) -> Result<Self, String> {
        let mut components = self.components.iter();
        let component = components.find(|component| component.name == name);
        match component.cloned() {
            Some(component) => Ok(Self::of(vec![component], self.metrics)),
            None => {
                let names = self.components.iter();
                let names: Vec<_> = names.map(|component| component.name.as_str()).collect();
                let names = names.join(", ");
                Err(format!("no component named `{name}`; available: {names}"))
            }
        }
    }
}

fn alert(component: &Component) -> HealthAlert {
    HealthAlert {
        severity: component.status,
        component: component.name.clone(),
        message: component.message.clone(),
    }
}

fn recommendation(component: &Component) -> String {
    let name = &component.name;
    match component.status {
        ComponentStatus::Critical => {
            format!("Check the log for `{name}` and restore it.")
        }
        ComponentStatus::Healthy | ComponentStatus::Warning => {
            format!("Check `{name}` before it fails.")
        }
    }
}
