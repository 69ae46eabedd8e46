//! A folder as a source: everything that does not depend on what its files mean.

use std::sync::Arc;

use tidegate_core::{
    BoxFuture, Call, Catalog, ChangeStream, GaugeValue, Health, Reply, ResourceSubscription,
    Result, Source, Viewer,
};

use super::{FolderView, ServedFolder, SnapshotFolder};

/// A source that serves a folder through a view.
pub(crate) struct FolderSource<V: FolderView>(pub(crate) Arc<SnapshotFolder<V>>);

impl<V: FolderView> FolderSource<V> {
    /// Opens nothing before it is run.
    pub(crate) fn new(id: &str, folder: ServedFolder, view: V) -> Self {
        Self(Arc::new(SnapshotFolder::new(id, folder, view)))
    }

    /// Scans the folder and announces changes for as long as it is polled.
    pub(crate) async fn run(self: Arc<Self>) {
        Arc::clone(&self.0).run().await;
    }
}

impl<V: FolderView> Source for FolderSource<V> {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        self.0.catalog()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        V::call(&self.0, call)
    }

    fn changes(&self) -> ChangeStream {
        self.0.change_stream()
    }

    fn subscribe(&self, uri: &str, _: &Viewer<'_>) -> ResourceSubscription {
        V::subscribe(&self.0, uri)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.wait_for_first_scan())
    }

    fn wait_for_catalog(&self, _: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(self.0.wait_for_first_scan())
    }

    fn health(&self) -> Health {
        self.0.health()
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let snapshot = self.0.snapshot();
        let counts = self.0.view.counts(&snapshot).into_iter();
        let gauges = counts.map(|(name, count)| GaugeValue {
            name,
            value: u64::try_from(count).unwrap_or(u64::MAX),
        });
        gauges.collect()
    }
}
