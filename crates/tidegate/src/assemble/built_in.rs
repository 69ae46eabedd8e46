//! The sources of our own that the configuration names.

use std::sync::Arc;

use tidegate_core::{BoxFuture, GatewayHandle, LayeredSource, Source, SourceId};
use tidegate_sources::files::Files;
use tidegate_sources::index::CapabilityIndex;
use tidegate_sources::memory::Memory;
use tidegate_sources::prompts::Prompts;
use tidegate_store::Store;

use super::deadline;
use crate::config::{IndexSettings, Settings, SourceKind};

/// A source of our own.
pub(super) struct BuiltIn {
    pub(super) id: SourceId,
    /// What calls go to.
    pub(super) source: Arc<dyn Source>,
    /// What goes on beside the calls.
    pub(super) run: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

/// The sources, in the order of the configuration, over this store.
pub(super) fn sources(
    settings: &Settings,
    gateway_handle: &GatewayHandle,
    store: &Arc<Store>,
) -> anyhow::Result<Vec<BuiltIn>> {
    let mut sources = Vec::new();
    for one in &settings.sources {
        let id: SourceId = one.id.parse()?;
        sources.extend(match &one.kind {
            SourceKind::Remote(_) => None,
            SourceKind::Files(config) => {
                let files = Files::new(&one.id, config.clone());
                Some(built_in(id, files, Files::run, settings))
            }
            SourceKind::Memory(limits) => {
                let memory = Memory::new(&id, *limits, store);
                Some(built_in(id, memory, Memory::run, settings))
            }
            SourceKind::Index(config) if !config.enabled => None,
            SourceKind::Index(IndexSettings { index, .. }) => {
                let index = CapabilityIndex::new(index, gateway_handle.clone());
                Some(built_in(id, index, CapabilityIndex::run, settings))
            }
            SourceKind::Prompts(config) => {
                let prompts = Prompts::new(&one.id, config.clone());
                Some(built_in(id, prompts, Prompts::run, settings))
            }
        });
    }
    Ok(sources)
}

/// Whether one of them has something in the store.
pub(super) fn keep_something(settings: &Settings) -> bool {
    let mut sources = settings.sources.iter();
    sources.any(|one| matches!(one.kind, SourceKind::Memory(_)))
}

fn built_in<S: Source, F>(
    id: SourceId,
    source: S,
    run: fn(Arc<S>) -> F,
    settings: &Settings,
) -> BuiltIn
where
    F: Future<Output = ()> + Send + 'static,
{
    let source = Arc::new(source);
    BuiltIn {
        id,
        source: timed(Arc::clone(&source), settings),
        run: Box::new(move || Box::pin(run(Arc::clone(&source)))),
    }
}

/// A source of our own has its time too.
pub(super) fn timed<S: Source>(source: Arc<S>, settings: &Settings) -> Arc<dyn Source> {
    let deadline = deadline(settings.call_timeout, settings.max_call_duration);
    Arc::new(LayeredSource::new(source, vec![Arc::new(deadline)]))
}
