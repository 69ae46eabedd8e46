//! The source `system`: the health of the gateway, its statistics, and its models.

mod component;
mod gateway_metrics;
mod health_report;
mod other_reports;
mod process;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_core::{
    BoxFuture, CacheScope, Call, CallStats, Caller, Catalog, Change, ChangeSender, ChangeStream,
    ClientContext, HealthCheck, Reply, Result, Source, SourceId, Viewer,
};

use crate::declarations::{
    Declarations, DeclaredResource, DeclaredSource, DeclaredTool, ResourceContents, ToolEffect,
    ToolError, ToolInfo,
};
use component::ComponentStatus;
use health_report::HealthReport;
use other_reports::{ModelsReport, StatsReport};

const HEALTH_URI: &str = "resource://system/health";
const MODELS_URI: &str = "resource://system/models";
const STATS_URI: &str = "plugin://system/stats";

/// How often the health is checked for subscribers.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The source `system`.
pub struct System {
    state: SystemState,
    declared: DeclaredSource<SystemState>,
    changes: ChangeSender,
    last_announced: Mutex<Announced>,
}

/// What subscribers were notified about last.
#[derive(PartialEq)]
struct Announced {
    statuses: Vec<(String, ComponentStatus)>,
    calls: u64,
    models: BTreeMap<String, u64>,
}

/// The input of the reports.
struct SystemState {
    stats: Arc<CallStats>,
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    checks: Vec<Arc<dyn HealthCheck>>,
    /// The catalog of this source itself.
    catalog: Arc<Catalog>,
}

impl System {
    /// Reports on these sources, on these parts of the gateway, and on itself.
    pub fn new(
        stats: Arc<CallStats>,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        checks: Vec<Arc<dyn HealthCheck>>,
    ) -> Self {
        let declared = DeclaredSource::new(declarations());
        let viewer = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        };
        let state = SystemState {
            stats,
            sources,
            checks,
            catalog: declared.catalog(&viewer),
        };
        let last_announced = Mutex::new(state.announced());
        Self {
            state,
            declared,
            changes: ChangeSender::default(),
            last_announced,
        }
    }

    /// Checks the health for as long as it is polled, and announces changes.
    pub async fn watch(&self) {
        let mut ticks = tokio::time::interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.announce_changes();
        }
    }

    fn announce_changes(&self) {
        let now = self.state.announced();
        let mut last = self.last_announced.lock();
        if last.statuses != now.statuses {
            self.changes
                .send(Change::ResourceUpdated(HEALTH_URI.into()));
        }
        if last.calls != now.calls {
            self.changes.send(Change::ResourceUpdated(STATS_URI.into()));
        }
        if last.models != now.models {
            self.changes
                .send(Change::ResourceUpdated(MODELS_URI.into()));
        }
        *last = now;
    }
}

impl Source for System {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.declared.catalog(viewer)
    }

    fn depends_on_other_sources(&self) -> bool {
        true
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.declared.call(&self.state, &call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }
}

impl SystemState {
    fn announced(&self) -> Announced {
        Announced {
            statuses: self.health(&Caller::local()).statuses(),
            calls: self.stats.calls(),
            models: self.models(&Caller::local()),
        }
    }

    /// The health report, with the elements that this caller sees.
    fn health(&self, caller: &Caller) -> HealthReport {
        HealthReport::new(
            &self.stats,
            &self.sources,
            &self.checks,
            &self.catalog,
            caller,
        )
    }

    /// The models of all sources that this caller may know.
    fn models(&self, caller: &Caller) -> BTreeMap<String, u64> {
        let mut models = BTreeMap::new();
        for (_, source) in &self.sources {
            for (model, count) in source.sampled_models(caller) {
                *models.entry(model).or_default() += count;
            }
        }
        models
    }

    fn stats(&self) -> StatsReport {
        let sources = self.sources.len() + 1;
        StatsReport::new(&self.stats, sources, &self.checks)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HealthArguments {
    /// Only the component with this name.
    component: Option<String>,
}

fn declarations() -> Declarations<SystemState> {
    Declarations {
        owned: vec!["resource://system".into(), "plugin://system".into()],
        resources: vec![
            DeclaredResource {
                uri: HEALTH_URI.into(),
                name: "System Health",
                title: "System health",
                description: "Health of the gateway and its sources: overall status, components, \
                    metrics, alerts and recommendations.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |state, caller| {
                    Box::pin(async { ResourceContents::json(&state.health(caller)) })
                },
            },
            DeclaredResource {
                uri: MODELS_URI.into(),
                name: "AI Models",
                title: "Model inventory",
                description: "The AI models that clients used for sampling requests, and how often.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |state, caller| {
                    Box::pin(async {
                        ResourceContents::json(&ModelsReport::new(state.models(caller)))
                    })
                },
            },
            DeclaredResource {
                uri: STATS_URI.into(),
                name: "Gateway Statistics",
                title: "Gateway statistics",
                description: "Call and resource statistics of the gateway since it started.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |state, _| Box::pin(async { ResourceContents::json(&state.stats()) }),
            },
        ],
        tools: vec![DeclaredTool::new(
            ToolInfo {
                name: "health",
                title: "System health",
                description: "Reports the health of the gateway and its sources.",
                effect: ToolEffect::ReadOnly,
            },
            |state, call, arguments| {
                Box::pin(async move { health(state, call.caller(), arguments) })
            },
        )],
        ..Declarations::default()
    }
}

fn health(
    state: &SystemState,
    caller: &Caller,
    arguments: HealthArguments,
) -> Result<HealthReport, ToolError> {
    let report = state.health(caller);
    match arguments.component {
        None => Ok(report),
        Some(name) => report.only(&name).map_err(ToolError::Reported),
    }
}
