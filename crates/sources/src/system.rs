//! The source `system`: how the gateway is, what it has done, which models it knows.

mod memory;
mod report;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_core::{
    BoxFuture, CacheScope, Call, CallStats, Caller, Catalog, Change, ChangeSender, ChangeStream,
    ClientContext, HealthCheck, Reply, Result, Source, SourceId, Viewer,
};

use crate::declare::{Body, Declarations, Hint, Offer, Resource, Stop, Tool};
use report::{HealthReport, ModelsReport, StatsReport, Status};

const HEALTH: &str = "resource://system/health";
const STATS: &str = "plugin://system/stats";

/// How often the state is looked at for those who subscribe to it.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// The source `system`.
pub struct System {
    state: State,
    offer: Offer<State>,
    changes: ChangeSender,
    last_seen: Mutex<Seen>,
}

/// What those who subscribe were told last.
#[derive(PartialEq)]
struct Seen {
    statuses: Vec<(String, Status)>,
    calls: u64,
}

/// What the reports are made from.
struct State {
    stats: Arc<CallStats>,
    sources: Vec<(SourceId, Arc<dyn Source>)>,
    probes: Vec<Arc<dyn HealthCheck>>,
    /// What this source offers itself.
    own: Arc<Catalog>,
}

impl System {
    /// Reports on these sources, on itself, and on these parts of the gateway.
    pub fn new(
        stats: Arc<CallStats>,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        probes: Vec<Arc<dyn HealthCheck>>,
    ) -> Self {
        let offer = Offer::new(declarations());
        let own = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        };
        let state = State {
            stats,
            sources,
            probes,
            own: offer.catalog(&own),
        };
        let last_seen = Mutex::new(state.seen());
        Self {
            state,
            offer,
            changes: ChangeSender::default(),
            last_seen,
        }
    }

    /// Looks at the state for as long as it is polled, and tells when it is another.
    pub async fn watch(&self) {
        let mut ticks = tokio::time::interval(WATCH_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.look();
        }
    }

    fn look(&self) {
        let seen = self.state.seen();
        let mut last = self.last_seen.lock();
        if last.statuses != seen.statuses {
            self.changes.send(Change::ResourceUpdated(HEALTH.into()));
        }
        if last.calls != seen.calls {
            self.changes.send(Change::ResourceUpdated(STATS.into()));
        }
        *last = seen;
    }
}

impl Source for System {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.offer.catalog(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move { self.offer.serve(&self.state, &call).await })
    }

    fn changes(&self) -> ChangeStream {
        self.changes.stream()
    }
}

impl State {
    fn seen(&self) -> Seen {
        Seen {
            statuses: self.health(&Caller::local()).statuses(),
            calls: self.stats.calls(),
        }
    }

    /// How everything is. Sources are counted as the one who asks sees them.
    fn health(&self, caller: &Caller) -> HealthReport {
        HealthReport::new(&self.stats, &self.sources, &self.probes, &self.own, caller)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HealthArguments {
    /// Only the component with this name.
    component: Option<String>,
}

fn declarations() -> Declarations<State> {
    Declarations {
        owned: vec!["resource://system".into(), "plugin://system".into()],
        resources: vec![
            Resource {
                uri: HEALTH.into(),
                name: "System Health",
                title: "System health",
                description: "How the gateway and each of its sources are: overall status, \
                    components, metrics, alerts and recommendations.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |state, caller| Box::pin(async { Body::json(&state.health(caller)) }),
            },
            Resource {
                uri: "resource://system/models".into(),
                name: "AI Models",
                title: "Model inventory",
                description: "The AI models the gateway knows of.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |_, _| Box::pin(async { Body::json(&ModelsReport::default()) }),
            },
            Resource {
                uri: STATS.into(),
                name: "Gateway Statistics",
                title: "Gateway statistics",
                description: "What the gateway has done since it started.",
                mime: "application/json",
                ttl: Duration::ZERO,
                scope: CacheScope::Private,
                admin_only: false,
                read: |state, _| {
                    Box::pin(async {
                        let sources = state.sources.len() + 1;
                        Body::json(&StatsReport::new(&state.stats, sources, &state.probes))
                    })
                },
            },
        ],
        tools: vec![Tool::new(
            "health",
            "System health",
            "Reports how the gateway and each of its sources are. Changes nothing.",
            Hint::Reads,
            |state, asking, arguments| {
                Box::pin(async move { health(state, asking.caller(), arguments) })
            },
        )],
        ..Declarations::default()
    }
}

fn health(
    state: &State,
    caller: &Caller,
    arguments: HealthArguments,
) -> Result<HealthReport, Stop> {
    let report = state.health(caller);
    match arguments.component {
        None => Ok(report),
        Some(name) => report.only(&name).map_err(Stop::Fault),
    }
}
