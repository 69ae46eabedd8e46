//! Sources that are unavailable, or whose catalogs are incomplete.

use futures_util::FutureExt as _;
use tidegate_config::HumanDuration;
use tidegate_core::{Health, List, Source, SourceId, Viewer};

use super::connection::{GatewayConnection, client_context};

/// A source that is not healthy.
pub(super) struct UnhealthySource {
    id: SourceId,
    /// The problem, in one line.
    pub(super) message: String,
}

impl UnhealthySource {
    /// Whether a text already names this source.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        text.contains(&format!("`{}`", self.id))
    }
}

/// The sources that are not healthy.
pub(super) fn unhealthy_sources(connection: &GatewayConnection) -> Vec<UnhealthySource> {
    let sources = connection.sources();
    sources
        .filter_map(|(id, source)| {
            let health = source.health();
            let (Health::Warning(reason) | Health::Critical(reason)) = &health else {
                return None;
            };
            let message = match source.ready().now_or_never() {
                None => format!(
                    "source `{id}` is still starting (waited {})",
                    HumanDuration(connection.startup_wait())
                ),
                Some(()) => {
                    let state = state(connection, source, &health);
                    format!("source `{id}` {state}: {reason}")
                }
            };
            let id = id.clone();
            Some(UnhealthySource { id, message })
        })
        .collect()
}

/// What is left of an unhealthy source: nothing, a part of its lists, or all of it.
fn state(connection: &GatewayConnection, source: &dyn Source, health: &Health) -> &'static str {
    let catalog = source.catalog(&Viewer {
        caller: connection.caller(),
        client: &client_context(),
    });
    match (
        List::ALL.iter().all(|list| catalog.list(*list).is_empty()),
        health,
    ) {
        (true, _) => "is unavailable",
        (false, _) if catalog.gap.is_some() => "is incomplete",
        (false, Health::Critical(_)) => "is critical",
        (false, _) => "has a warning",
    }
}
