//! How well something is, for the health report.

use std::time::Duration;

/// The state of a source or a part of the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Good,
    /// It works, but someone should look.
    Degraded(String),
    /// It does not work.
    Down(String),
}

/// A part of the gateway that can say how it is.
pub trait HealthCheck: Send + Sync + 'static {
    fn name(&self) -> &str;
    fn report(&self) -> ComponentHealth;
}

/// What a probe finds.
#[derive(Clone, Debug)]
pub struct ComponentHealth {
    pub health: Health,
    /// How long the last answer took, where something was asked.
    pub response_time: Option<Duration>,
    /// Numbers worth showing.
    pub gauges: Vec<GaugeValue>,
}

impl ComponentHealth {
    /// All is well, and there is nothing to add.
    pub fn good() -> Self {
        Self {
            health: Health::Good,
            response_time: None,
            gauges: Vec::new(),
        }
    }
}

/// One number with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct GaugeValue {
    pub name: &'static str,
    pub value: u64,
}
