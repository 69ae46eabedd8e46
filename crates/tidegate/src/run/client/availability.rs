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
            let (state, reason) = match source.health() {
                Health::Healthy => return None,
                Health::Warning(reason) => ("has a warning", reason),
                Health::Critical(reason) => ("is critical", reason),
            };
            let message = match source.ready().now_or_never() {
                None => format!(
                    "source `{id}` is still starting (waited {})",
                    HumanDuration(connection.startup_wait())
                ),
                Some(()) if lists_nothing(connection, source) => {
                    format!("source `{id}` is unavailable: {reason}")
                }
                Some(()) => format!("source `{id}` {state}: {reason}"),
            };
            let id = id.clone();
            Some(UnhealthySource { id, message })
        })
        .collect()
}

fn lists_nothing(connection: &GatewayConnection, source: &dyn Source) -> bool {
    let catalog = source.catalog(&Viewer {
        caller: connection.caller(),
        client: &client_context(),
    });
    List::ALL.iter().all(|list| catalog.list(*list).is_empty())
}
