//! The database of a memory source, for one principal.

use std::sync::Arc;

use tidegate_sources::memory::{Limits, MemoryConfig};
use tidegate_store::memory::{EntryOwner, MemoryStore, memory_store};
use tidegate_store::{Store, StoreError};

use crate::cli::MemoryArgs;
use crate::config::Settings;

/// The entries of one principal in one memory source.
pub(super) struct OwnedMemory {
    store: Arc<Store>,
    pub(super) entries: Arc<dyn MemoryStore>,
    pub(super) owner: EntryOwner,
    pub(super) limits: Limits,
}

/// A database error for the user. The SQLite error behind it goes to the log.
pub(super) fn database_error(error: &StoreError) -> anyhow::Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::debug!(cause, "database error");
    anyhow::anyhow!("{error}")
}

impl OwnedMemory {
    pub(super) fn new(settings: &Settings, args: &MemoryArgs) -> Result<Self, String> {
        let (source, limits) = choose_source(settings, args.source.as_deref())?;
        let store = Arc::new(Store::in_folder(&settings.data_dir));
        Ok(Self {
            entries: memory_store(&store),
            store,
            owner: EntryOwner {
                source,
                principal: args.principal.clone(),
            },
            limits,
        })
    }

    pub(super) async fn close(&self) {
        self.store.close().await;
    }
}

/// The memory source with this id, or the only one.
fn choose_source(settings: &Settings, id: Option<&str>) -> Result<(String, Limits), String> {
    let sources = settings.sources.iter();
    let memory_sources = sources.filter_map(|source| {
        let config: &MemoryConfig = source.settings.built_in()?;
        Some((source.id.to_string(), config.limits))
    });
    let mut configured: Vec<_> = memory_sources.collect();
    let ids: Vec<_> = configured.iter().map(|(id, _)| id.as_str()).collect();
    let ids = ids.join(", ");
    if configured.is_empty() {
        return Err("no source of the kind `memory` is configured".to_owned());
    }
    match id {
        Some(id) => {
            let found = configured.into_iter().find(|(known, _)| known == id);
            found.ok_or_else(|| format!("no memory source named `{id}`; configured: {ids}"))
        }
        None if configured.len() == 1 => Ok(configured.remove(0)),
        None => Err(format!(
            "several memory sources are configured; choose one with --source: {ids}"
        )),
    }
}
