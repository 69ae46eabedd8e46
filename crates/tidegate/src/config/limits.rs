//! The section `limits`: the limits of the transports, the timeouts of calls, and those of the
//! gateway itself.

use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use tidegate_config::{Checker, HumanDuration, Section};
use tidegate_policy::{CallTimeoutSection, CallTimeouts};
use tidegate_server::{TransportLimits, TransportLimitsSection};

use super::composed::{Describe, merge};
use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::mapping::Mapping;

const PAGE_SIZE: usize = 1_000;
const STARTUP_WAIT: HumanDuration = HumanDuration::secs(5);

/// The fields of `limits`, in the JSON Schema.
#[derive(Debug)]
pub(crate) struct LimitsFields;

impl Describe for LimitsFields {
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        merge(&[
            CallTimeoutSection::json_schema(generator),
            TransportLimitsSection::json_schema(generator),
            GatewayLimitsSection::json_schema(generator),
        ])
    }
}

/// The limits of the gateway itself, as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
struct GatewayLimitsSection {
    /// Number of entries on one page of a list.
    #[schemars(extend("default" = PAGE_SIZE))]
    page_size: Option<usize>,
    /// How long the first requests wait for sources that are still starting.
    #[schemars(extend("default" = STARTUP_WAIT))]
    startup_wait: Option<HumanDuration>,
}

#[derive(Debug)]
pub(crate) struct GatewayLimits {
    pub(crate) page_size: usize,
    pub(crate) startup_wait: Duration,
}

impl Section for GatewayLimitsSection {
    type Config = GatewayLimits;

    fn check(self, checker: &mut Checker<'_>) -> Option<GatewayLimits> {
        Some(GatewayLimits {
            page_size: checker.in_range("page_size", self.page_size, PAGE_SIZE, 1..=10_000),
            startup_wait: checker.in_range(
                "startup_wait",
                self.startup_wait,
                STARTUP_WAIT.into(),
                HumanDuration::ZERO..=HumanDuration::minutes(5),
            ),
        })
    }
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            page_size: PAGE_SIZE,
            startup_wait: STARTUP_WAIT.into(),
        }
    }
}

/// All limits.
#[derive(Debug)]
pub(crate) struct AllLimits {
    pub(crate) transports: TransportLimits,
    pub(crate) calls: CallTimeouts,
    pub(crate) gateway: GatewayLimits,
}

pub(crate) fn check(context: &LoadContext<'_>, diagnostics: &mut Diagnostics) -> AllLimits {
    let mut mapping = Mapping::at(&["limits"], diagnostics);
    let transports = mapping.section::<TransportLimitsSection>(context, diagnostics);
    let calls = mapping.section::<CallTimeoutSection>(context, diagnostics);
    let gateway = mapping.section::<GatewayLimitsSection>(context, diagnostics);
    mapping.finish(diagnostics);
    AllLimits {
        transports: transports.unwrap_or_default(),
        calls: calls.unwrap_or_default(),
        gateway: gateway.unwrap_or_default(),
    }
}
