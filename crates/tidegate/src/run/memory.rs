//! `tidegate memory export` and `import`: entries from and to a file, straight from the database.
//! Gateways that run with it see what changes.

mod export;
mod import;

use std::sync::Arc;
use std::time::Duration;

use tidegate_sources::memory::Limits;
use tidegate_store::memory::{EntryOwner, MemoryStore, memory_store};
use tidegate_store::{Store, StoreError};

use super::{in_runtime, quietly, tell};
use crate::cli::{Exit, MemoryArgs, MemoryCommand};
use crate::config::{Environment, Settings, SourceKind, load};

/// One principal's memory.
struct Kept {
    store: Arc<Store>,
    memories: Arc<dyn MemoryStore>,
    owner: EntryOwner,
    limits: Limits,
}

pub(super) fn run(command: &MemoryCommand, environment: &Environment<'_>) -> Exit {
    let args = command.args();
    let settings = match load(&args.flags(environment), environment) {
        Ok(settings) => settings,
        Err(problems) => return tell(&problems.to_string(), Exit::Usage),
    };
    let kept = match Kept::new(&settings, args) {
        Ok(kept) => kept,
        Err(message) => return tell(&format!("tidegate: {message}"), Exit::Usage),
    };
    let done = in_runtime(&settings.log, Duration::ZERO, async {
        let done = match command {
            MemoryCommand::Export { namespace, .. } => export::run(&kept, namespace.clone()).await,
            MemoryCommand::Import { file, .. } => import::run(&kept, file).await,
        };
        kept.store.close().await;
        done
    });
    match done {
        Ok(done) => quietly(done.map(|()| Exit::Done)),
        Err(exit) => exit,
    }
}

/// What the database says, in its one sentence: what SQLite says is for the log.
fn told(error: &StoreError) -> anyhow::Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::debug!(cause, "the database cannot be used");
    anyhow::anyhow!("{error}")
}

impl Kept {
    fn new(settings: &Settings, args: &MemoryArgs) -> Result<Self, String> {
        let (source, limits) = choose(settings, args.source.as_deref())?;
        let store = Arc::new(Store::in_folder(&settings.data_dir));
        Ok(Self {
            memories: memory_store(&store),
            store,
            owner: EntryOwner {
                source,
                principal: args.principal.clone(),
            },
            limits,
        })
    }
}

/// The source that is meant.
fn choose(settings: &Settings, named: Option<&str>) -> Result<(String, Limits), String> {
    let all = settings.sources.iter();
    let of_memory = all.filter_map(|source| match &source.kind {
        SourceKind::Memory(limits) => Some((source.id.clone(), *limits)),
        _ => None,
    });
    let mut all: Vec<_> = of_memory.collect();
    let ids: Vec<_> = all.iter().map(|(id, _)| id.clone()).collect();
    if let Some(named) = named {
        let found = all.into_iter().find(|(id, _)| id == named);
        return found.ok_or_else(|| match ids.is_empty() {
            true => "no source of the kind `memory` is configured".to_owned(),
            false => format!("`{named}` is no memory; there are {}", ids.join(", ")),
        });
    }
    match all.len() {
        0 => Err("no source of the kind `memory` is configured".to_owned()),
        1 => Ok(all.remove(0)),
        _ => Err(format!(
            "there are several memories; name one with --source: {}",
            ids.join(", ")
        )),
    }
}
