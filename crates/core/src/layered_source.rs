//! A source wrapped in its own layers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::{
    AffinityKey, Call, Caller, Catalog, ChangeStream, ExtensionMembers, ExtensionSubscription,
    GaugeValue, Health, Layer, LogStream, LoggingLevel, Next, RawJson, Reply, ResourceSubscription,
    Result, Source, TaskUpdates, Viewer,
};

/// A source, and the layers that only its calls pass.
pub struct LayeredSource {
    source: Arc<dyn Source>,
    layers: Vec<Arc<dyn Layer>>,
}

impl LayeredSource {
    /// The layers are in the order in which a call passes them.
    pub fn new(source: Arc<dyn Source>, layers: Vec<Arc<dyn Layer>>) -> Self {
        Self { source, layers }
    }
}

impl Source for LayeredSource {
    fn catalog(&self, viewer: &Viewer<'_>) -> Arc<Catalog> {
        self.source.catalog(viewer)
    }

    fn cache_lifetime(&self, viewer: &Viewer<'_>) -> Option<Duration> {
        self.source.cache_lifetime(viewer)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Next::new(&self.layers, self.source.as_ref()).run(call)
    }

    fn changes(&self) -> ChangeStream {
        self.source.changes()
    }

    fn log_messages(&self) -> LogStream {
        self.source.log_messages()
    }

    fn subscribe(&self, uri: &str, viewer: &Viewer<'_>) -> ResourceSubscription {
        self.source.subscribe(uri, viewer)
    }

    fn task_updates(
        &self,
        ids: BTreeSet<String>,
        viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, TaskUpdates> {
        self.source.task_updates(ids, viewer)
    }

    fn extension_notifications(
        &self,
        members: ExtensionMembers,
        viewer: &Viewer<'_>,
    ) -> BoxFuture<'static, ExtensionSubscription> {
        self.source.extension_notifications(members, viewer)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        self.source.ready()
    }

    fn wait_for_catalog(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        self.source.wait_for_catalog(viewer)
    }

    fn served_preliminary(&self, viewer: &Viewer<'_>) {
        self.source.served_preliminary(viewer);
    }

    fn refresh(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        self.source.refresh(viewer)
    }

    fn depends_on_other_sources(&self) -> bool {
        self.source.depends_on_other_sources()
    }

    fn roots_changed(&self, affinity: AffinityKey) {
        self.source.roots_changed(affinity);
    }

    fn log_level_changed(&self, affinity: AffinityKey, level: LoggingLevel) {
        self.source.log_level_changed(affinity, level);
    }

    fn client_gone(&self, affinity: AffinityKey) {
        self.source.client_gone(affinity);
    }

    fn notify(&self, viewer: &Viewer<'_>, method: &str, params: &RawJson) {
        self.source.notify(viewer, method, params);
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        self.source.gauges()
    }

    fn connections(&self) -> Vec<(String, u64)> {
        self.source.connections()
    }

    fn connects(&self) -> u64 {
        self.source.connects()
    }

    fn sampled_models(&self, caller: &Caller) -> BTreeMap<String, u64> {
        self.source.sampled_models(caller)
    }

    fn failure_details(&self) -> Option<String> {
        self.source.failure_details()
    }

    /// The health of the source; if the source is healthy, the first problem of a layer.
    fn health(&self) -> Health {
        let mut layers = self.layers.iter().map(|layer| layer.health());
        match self.source.health() {
            Health::Healthy => layers
                .find(|health| *health != Health::Healthy)
                .unwrap_or(Health::Healthy),
            problem => problem,
        }
    }
}
