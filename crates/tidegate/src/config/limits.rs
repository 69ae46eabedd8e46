//! The section `limits`: the limits of the transports, the timeouts of calls, and those of the
//! gateway itself.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use tidegate_config::{Checker, HumanDuration, Section, in_range};
use tidegate_policy::{CallTimeoutSection, CallTimeouts};
use tidegate_server::{TransportLimits, TransportLimitsSection};

use super::composed::{Describe, merge};
use super::context::LoadContext;
use super::diagnostics::Diagnostics;
use super::mapping::Mapping;

const PAGE_SIZE: usize = 1_000;
const STARTUP_WAIT: HumanDuration = HumanDuration::secs(5);

const PAGE_SIZE_RANGE: RangeInclusive<usize> = 1..=10_000;
const STARTUP_WAIT_RANGE: RangeInclusive<HumanDuration> =
    HumanDuration::ZERO..=HumanDuration::minutes(5);

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
    #[schemars(extend("default" = PAGE_SIZE), transform = in_range(PAGE_SIZE_RANGE))]
    page_size: Option<usize>,
    /// How long lists, searches and calls to a source that is still starting wait after the start of
    /// the gateway. After that they are answered without the sources that are missing, and `/readyz`
    /// responds with 200.
    #[schemars(extend("default" = STARTUP_WAIT), transform = in_range(STARTUP_WAIT_RANGE))]
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
            page_size: checker.in_range("page_size", self.page_size, PAGE_SIZE, PAGE_SIZE_RANGE),
            startup_wait: checker.in_range(
                "startup_wait",
                self.startup_wait,
                STARTUP_WAIT.into(),
                STARTUP_WAIT_RANGE,
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
