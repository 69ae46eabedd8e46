//! Health of sources and components, for the health report.

use std::time::Duration;

/// The health of a source or a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Healthy,
    /// It works, with this problem.
    Warning(String),
    /// It does not work, for this reason.
    Critical(String),
}

/// A component that reports its health.
pub trait HealthCheck: Send + Sync + 'static {
    fn name(&self) -> &str;
    fn report(&self) -> ComponentHealth;
}

/// The health of a component, with its numbers.
#[derive(Clone, Debug)]
pub struct ComponentHealth {
    pub health: Health,
    /// How long the last check took, if it needed a response.
    pub response_time: Option<Duration>,
    pub gauges: Vec<GaugeValue>,
}

impl ComponentHealth {
    pub fn healthy() -> Self {
        Self {
            health: Health::Healthy,
            response_time: None,
            gauges: Vec::new(),
        }
    }
}

/// A named number.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeValue {
    pub name: &'static str,
    pub value: u64,
}
