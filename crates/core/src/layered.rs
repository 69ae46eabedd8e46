//! A source behind layers of its own. To all others it is a source like any.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::{
    Audience, Call, Catalog, ChangeStream, Followed, Health, Layer, Next, Reply, Result, Source,
    Terms, Vital, Watch,
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
    fn catalog(&self, audience: &Audience<'_>) -> Arc<Catalog> {
        self.source.catalog(audience)
    }

    fn good_for(&self, audience: &Audience<'_>) -> Option<Duration> {
        self.source.good_for(audience)
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

    fn follow(&self, ids: BTreeSet<String>, terms: &Terms) -> BoxFuture<'static, Followed> {
        self.source.follow(ids, terms)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        self.source.ready()
    }

    fn prepare(&self, audience: &Audience<'_>) -> BoxFuture<'_, ()> {
        self.source.prepare(audience)
    }

    fn refresh(&self, audience: &Audience<'_>) -> BoxFuture<'_, ()> {
        self.source.refresh(audience)
    }

    fn roots_changed(&self, conversation: u64) {
        self.source.roots_changed(conversation);
    }

    fn vitals(&self) -> Vec<Vital> {
        self.source.vitals()
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
