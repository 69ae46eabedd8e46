//! `tidegate memory export` and `import`: copies entries between the database and a file. Gateways
//! that use the same database see the changes.

mod export;
mod import;

use std::sync::Arc;
use std::time::Duration;

use tidegate_sources::memory::{Limits, MemoryConfig};
use tidegate_store::memory::{EntryOwner, MemoryStore, memory_store};
use tidegate_store::{Store, StoreError};

use super::report::{exit_for, fail, start_log};
use super::runtime::block_on;
use crate::cli::{Exit, MemoryArgs, MemoryCommand, OutputArgs};
use crate::config::{Environment, Settings, load};

/// The entries of one principal in one memory source.
struct OwnedMemory {
    store: Arc<Store>,
    entries: Arc<dyn MemoryStore>,
    owner: EntryOwner,
    limits: Limits,
}

pub(super) fn run(
    command: &MemoryCommand,
    output: OutputArgs,
    environment: &Environment<'_>,
) -> Exit {
    let args = command.args();
    let settings = match load(&args.flags(output, environment), environment) {
        Ok(settings) => settings,
        Err(problems) => return fail(&problems, Exit::Usage),
    };
    let memory = match OwnedMemory::new(&settings, args) {
        Ok(memory) => memory,
        Err(message) => return fail(&format_args!("tidegate: {message}"), Exit::Usage),
    };
    let log = start_log(&settings.log, output, environment);
    let work = async {
        let result = match command {
            MemoryCommand::Export { namespace, .. } => {
                export::run(&memory, namespace.clone()).await
            }
            MemoryCommand::Import { file, .. } => import::run(&memory, file).await,
        };
        memory.store.close().await;
        result
    };
    let result = block_on(work, Duration::ZERO);
    drop(log);
    match result {
        Ok(Ok(printed)) => exit_for(printed.map(|()| Exit::Success)),
        Ok(Err(error)) => fail(&format_args!("tidegate: {error:#}"), Exit::Failure),
        Err(exit) => exit,
    }
}

/// A database error for the user. The SQLite error behind it goes to the log.
fn database_error(error: &StoreError) -> anyhow::Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::debug!(cause, "database error");
    anyhow::anyhow!("{error}")
}

impl OwnedMemory {
    fn new(settings: &Settings, args: &MemoryArgs) -> Result<Self, String> {
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
