//! The lifecycle of a served folder: scan it, rescan when it changes, publish a snapshot, announce
//! the differences to the previous one, and read on the blocking pool.
//!
//! Each source implements its differences in a [`FolderView`].

use std::sync::Arc;

use serde_json::json;
use tidegate_core::{
    BoxFuture, CacheScope, Call, Catalog, CatalogGap, Change, ChangeSender, ChangeStream, Code,
    Error, ErrorOrigin, Features, Health, Outcome, Reply, ResourceSubscription, Result,
};
use tokio::sync::watch;

use super::blocking_pool::BlockingPool;
use super::read::ReadError;
use super::watch::{WatchedFolders, rescan_on_changes};
use super::{FolderTree, RelativePath, ServedFolder, resource};

/// How a source presents a folder.
pub(crate) trait FolderView: Sized + Send + Sync + 'static {
    /// The data that the source derives from the files for its catalog and calls.
    type Details: Default + Send + Sync;

    fn features(&self) -> Features;

    /// Runs on a blocking thread. Unchanged parts can be reused from `previous`.
    fn derive(
        &self,
        folder: &ServedFolder,
        tree: &FolderTree,
        previous: &Self::Details,
    ) -> Self::Details;

    /// The lists, and the gap if they are incomplete.
    fn catalog(&self, folder: &ServedFolder, tree: &FolderTree, details: &Self::Details)
    -> Catalog;

    /// The changes between two snapshots.
    fn changes(
        &self,
        folder: &ServedFolder,
        current: &FolderSnapshot<Self::Details>,
        previous: &FolderSnapshot<Self::Details>,
    ) -> Vec<Change>;

    /// Serves a call.
    fn call(folder: &Arc<SnapshotFolder<Self>>, call: Call) -> BoxFuture<'_, Result<Reply>>;

    /// Subscribes to the updates of a resource. By default all updates are announced anyway.
    fn subscribe(_: &Arc<SnapshotFolder<Self>>, _uri: &str) -> ResourceSubscription {
        ResourceSubscription::default()
    }

    /// Counts for the source's gauges, by name.
    fn counts(&self, snapshot: &FolderSnapshot<Self::Details>) -> Vec<(&'static str, usize)>;

    /// Logs new problems of single files. Returns whether there are any, old or new; the catalog's
    /// gap is then not logged.
    fn log_problems(&self, _source: &str, _: &Self::Details, _previous: &Self::Details) -> bool {
        false
    }
}

/// The folder at one moment.
pub(crate) struct FolderSnapshot<D> {
    pub(crate) tree: FolderTree,
    pub(crate) details: D,
    pub(crate) catalog: Arc<Catalog>,
}

impl<D> FolderSnapshot<D> {
    /// Whether the first scan has not completed.
    pub(crate) fn is_loading(&self) -> bool {
        self.catalog.gap == Some(CatalogGap::Loading)
    }

    fn health(&self) -> Health {
        match &self.catalog.gap {
            None | Some(CatalogGap::Loading) => Health::Healthy,
            Some(CatalogGap::Unavailable(reason)) => match self.tree.is_unavailable() {
                true => Health::Critical(reason.clone()),
                false => Health::Warning(reason.clone()),
            },
        }
    }
}

/// A folder that is served through a view.
pub(crate) struct SnapshotFolder<V: FolderView> {
    /// The id of the source, for the log.
    source: String,
    pub(crate) folder: ServedFolder,
    pub(crate) view: V,
    snapshot: watch::Sender<Arc<FolderSnapshot<V::Details>>>,
    changes: ChangeSender,
    pool: BlockingPool,
}

impl<V: FolderView> SnapshotFolder<V> {
    /// Opens nothing yet.
    pub(crate) fn new(source: &str, folder: ServedFolder, view: V) -> Self {
        let loading = FolderSnapshot {
            tree: FolderTree::default(),
            details: V::Details::default(),
            catalog: Arc::new(empty_catalog(&view, CatalogGap::Loading)),
        };
        Self {
            source: source.to_owned(),
            folder,
            view,
            snapshot: watch::Sender::new(Arc::new(loading)),
            changes: ChangeSender::default(),
            pool: BlockingPool::default(),
        }
    }

    /// Scans the folder and announces changes for as long as it is polled.
    pub(crate) async fn run(self: Arc<Self>) {
        rescan_on_changes(move || self.rescan()).await;
    }

    pub(crate) async fn wait_for_first_scan(&self) {
        let mut snapshot = self.snapshot.subscribe();
        // An error means that the source was dropped.
        snapshot
            .wait_for(|snapshot| !snapshot.is_loading())
            .await
            .ok();
    }

    pub(crate) fn snapshot(&self) -> Arc<FolderSnapshot<V::Details>> {
        Arc::clone(&self.snapshot.borrow())
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.snapshot.borrow().catalog)
    }

    pub(crate) fn health(&self) -> Health {
        self.snapshot.borrow().health()
    }

    pub(crate) fn change_stream(&self) -> ChangeStream {
        self.changes.stream()
    }

    /// Publishes a new snapshot, then sends the changes. Returns the folders to watch.
    pub(crate) fn rescan(&self) -> WatchedFolders {
        let previous = self.snapshot();
        let current = self.take_snapshot(&previous);
        self.log(&current, &previous);
        let changes = self.view.changes(&self.folder, &current, &previous);
        let watched = WatchedFolders::of(&self.folder.root, &current.tree);
        self.snapshot.send_replace(Arc::new(current));
        for change in changes {
            self.changes.send(change);
        }
        watched
    }

    fn take_snapshot(&self, previous: &FolderSnapshot<V::Details>) -> FolderSnapshot<V::Details> {
        let (tree, details, catalog) = match self.folder.scan(&previous.tree) {
            Ok(tree) => {
                let details = self.view.derive(&self.folder, &tree, &previous.details);
                let catalog = Catalog {
                    features: self.view.features(),
                    scope: CacheScope::Public,
                    ..self.view.catalog(&self.folder, &tree, &details)
                };
                (tree, details, catalog)
            }
            Err(error) => {
                let root = &self.folder.root;
                let reason = root.describe_error(&error);
                let catalog = empty_catalog(&self.view, CatalogGap::Unavailable(reason));
                (FolderTree::default(), V::Details::default(), catalog)
            }
        };
        // An equal catalog is reused, so that nothing derived from it is rebuilt.
        let catalog = match catalog == *previous.catalog {
            true => Arc::clone(&previous.catalog),
            false => Arc::new(catalog),
        };
        FolderSnapshot {
            tree,
            details,
            catalog,
        }
    }

    fn log(&self, current: &FolderSnapshot<V::Details>, previous: &FolderSnapshot<V::Details>) {
        let source = self.source.as_str();
        let has_problems = self
            .view
            .log_problems(source, &current.details, &previous.details);
        match (&current.catalog.gap, &previous.catalog.gap) {
            (gap @ Some(CatalogGap::Unavailable(reason)), previous)
                if !has_problems && gap != previous =>
            {
                tracing::warn!(source, reason, "list incomplete");
            }
            (None, Some(CatalogGap::Unavailable(_))) => {
                tracing::info!(source, "list complete again");
            }
            _ => {}
        }
    }

    /// Runs blocking work that reads files.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let result = self.pool.run(work).await;
        result.map_err(|error| Error::internal("the files could not be read").with_cause(error))
    }

    /// Reads a file or lists a folder. The result has the URI of the request (X25).
    pub(crate) async fn read(self: Arc<Self>, uri: &str, path: RelativePath) -> Result<Reply> {
        let this = Arc::clone(&self);
        let (request_uri, is_root) = (uri.to_owned(), path.is_root());
        let read = self.pool.run(move || {
            let contents = this.folder.read(&path)?;
            Ok(resource::contents_item(
                &this.folder,
                &path,
                &request_uri,
                contents,
            ))
        });
        let read = read.await.unwrap_or_else(|error| {
            let failed = Error::internal("the file could not be read");
            Ok(Err(failed.with_cause(error)))
        });
        let item = read.map_err(|error| match error {
            ReadError::NotFound if is_root => {
                let message = "the folder of this source does not exist";
                Error::new(Code::SourceDown, ErrorOrigin::Source, message)
            }
            error => resource::read_error(uri, self.folder.max_file_bytes, error),
        })??;
        let result = json!({ "contents": [item] });
        Ok(Reply::Done(Outcome::complete(result.into())))
    }
}

fn empty_catalog(view: &impl FolderView, gap: CatalogGap) -> Catalog {
    Catalog {
        is_built_in: true,
        features: view.features(),
        scope: CacheScope::Public,
        gap: Some(gap),
        ..Catalog::default()
    }
}
