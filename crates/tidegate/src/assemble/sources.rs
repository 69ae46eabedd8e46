//! Builds the configured sources, in the order of the configuration, which decides name conflicts.

use std::sync::Arc;

use tidegate_core::{GatewayHandle, LayeredSource, Seal, Source, SourceId};
use tidegate_policy::CallMetrics;
use tidegate_sources::{BuildContext, BuiltSource, LazyStore};
use tidegate_store::Store;
use tidegate_upstream::Remote;

use super::remotes::RemoteBuilder;
use crate::config::{Settings, SourceSettings};

/// The configured sources and the components behind them.
pub(super) struct BuiltSources {
    /// In the order of the configuration.
    pub(super) list: Vec<(SourceId, Arc<dyn Source>)>,
    pub(super) remotes: Vec<Arc<Remote>>,
    pub(super) built_in: Vec<BuiltSource>,
    /// The database, if a source uses it.
    pub(super) store: Option<Arc<Store>>,
}

pub(super) fn build(
    settings: &Settings,
    gateway: &GatewayHandle,
    seal: &Arc<Seal>,
    metrics: &Arc<CallMetrics>,
) -> anyhow::Result<BuiltSources> {
    let store = LazyStore::new(settings.data_dir.clone());
    let remote_builder = RemoteBuilder::new(settings, seal, metrics);
    let (mut list, mut remotes, mut built_in) = (Vec::new(), Vec::new(), Vec::new());
    for source in &settings.sources {
        let id = source.id.clone();
        match &source.settings {
            SourceSettings::Remote(remote_source) => {
                let remote = remote_builder.build(&id, &remote_source.remote)?;
                let layers = remote_source.policy.layers(settings.call_timeouts);
                let inner = Arc::clone(&remote) as Arc<dyn Source>;
                list.push((
                    id,
                    Arc::new(LayeredSource::new(inner, layers)) as Arc<dyn Source>,
                ));
                remotes.push(remote);
            }
            SourceSettings::BuiltIn(config) => {
                let context = BuildContext {
                    id: &id,
                    gateway,
                    store: &store,
                };
                let Some(built) = config.build(&context) else {
                    continue;
                };
                list.push((id, with_deadline(Arc::clone(&built.source), settings)));
                built_in.push(built);
            }
        }
    }
    Ok(BuiltSources {
        list,
        remotes,
        built_in,
        store: store.into_store(),
    })
}

/// A built-in source with the timeouts of all calls.
pub(super) fn with_deadline(source: Arc<dyn Source>, settings: &Settings) -> Arc<dyn Source> {
    let deadline = settings.call_timeouts.deadline();
    Arc::new(LayeredSource::new(source, vec![Arc::new(deadline)]))
}
