//! A source behind layers of its own. To all others it is a source like any.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::{
    Call, Catalog, ChangeStream, ClientContext, GaugeValue, Health, Layer, Next, Reply, Result,
    Source, TaskUpdates, Viewer, Watch,
};

/// A source, and the layers that its calls alone pass.
pub struct Layered {
    source: Arc<dyn Source>,
    layers: Vec<Arc<dyn Layer>>,
}

impl Layered {
    /// The layers are in the order in which a call meets them.
    pub fn new(source: Arc<dyn Source>, layers: Vec<Arc<dyn Layer>>) -> Self {
        Self { source, layers }
    }
}

impl Source for Layered {
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

    fn watch(&self, uri: &str) -> Watch {
        self.source.watch(uri)
    }

    fn follow(
        &self,
        ids: BTreeSet<String>,
        client: &ClientContext,
    ) -> BoxFuture<'static, TaskUpdates> {
        self.source.follow(ids, client)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        self.source.ready()
    }

    fn prepare(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        self.source.prepare(viewer)
    }

    fn refresh(&self, viewer: &Viewer<'_>) -> BoxFuture<'_, ()> {
        self.source.refresh(viewer)
    }

    fn roots_changed(&self, conversation: u64) {
        self.source.roots_changed(conversation);
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        self.source.gauges()
    }

    /// The source's own, or what a layer has against it.
    fn health(&self) -> Health {
        let mut layers = self.layers.iter().map(|layer| layer.health());
        match self.source.health() {
            Health::Good => layers
                .find(|health| *health != Health::Good)
                .unwrap_or(Health::Good),
            unwell => unwell,
        }
    }
}
