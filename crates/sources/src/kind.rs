//! The interface between a kind of built-in source and the program: the section of the file that
//! configures it, and how the source is built from the checked configuration.
//!
//! A new kind implements both traits in its own folder and is added to the list of kinds in the
//! `tidegate` crate.

use std::any::Any;
use std::cell::OnceCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tidegate_config::Section;
use tidegate_core::{BoxFuture, GatewayHandle, Source, SourceId};
use tidegate_store::Store;

/// The section of a built-in source in the configuration file.
pub trait SourceSection: Section<Config: SourceConfig> {
    /// The value of `kind` in the file.
    const KIND: &'static str;
}

/// The checked configuration of a built-in source.
pub trait SourceConfig: Any + fmt::Debug + Send + Sync {
    /// Builds the source; `None` if the configuration disables it.
    fn build(&self, context: &BuildContext<'_>) -> Option<BuiltSource>;
}

/// The shared resources that a source may use.
pub struct BuildContext<'a> {
    pub id: &'a SourceId,
    pub gateway: &'a GatewayHandle,
    pub store: &'a LazyStore,
}

/// The database in the data folder, which exists only if a source uses it.
pub struct LazyStore {
    folder: PathBuf,
    store: OnceCell<Arc<Store>>,
}

impl LazyStore {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            store: OnceCell::new(),
        }
    }

    pub fn get(&self) -> &Arc<Store> {
        self.store
            .get_or_init(|| Arc::new(Store::in_folder(&self.folder)))
    }

    /// The store, if a source has used it.
    pub fn into_store(self) -> Option<Arc<Store>> {
        self.store.into_inner()
    }
}

/// A built source and its background task.
pub struct BuiltSource {
    /// Serves the calls.
    pub source: Arc<dyn Source>,
    run: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl BuiltSource {
    /// A source with the background task that keeps it up to date.
    pub fn new<S, F>(source: S, run: fn(Arc<S>) -> F) -> Self
    where
        S: Source,
        F: Future<Output = ()> + Send + 'static,
    {
        let source = Arc::new(source);
        Self {
            source: Arc::clone(&source) as Arc<dyn Source>,
            run: Box::new(move || Box::pin(run(Arc::clone(&source)))),
        }
    }

    /// The background task. It runs for as long as it is polled.
    pub fn run(&self) -> BoxFuture<'static, ()> {
        (self.run)()
    }
}
