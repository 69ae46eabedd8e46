//! Layers: middleware that a call passes on its way to a source. Each is one function.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::reply::guard::guard_reply;
use crate::{Call, Health, Reply, Result, Source, Step};

/// One concern of every call, such as observation, permissions or limits. A layer never parses
/// params.
pub trait Layer: Send + Sync + 'static {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>>;

    /// The health of the source behind the layer, as far as the layer has observed it.
    fn health(&self) -> Health {
        Health::Healthy
    }
}

/// The remaining layers and the source. A layer may run it more than once.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    source: &'a dyn Source,
}

impl<'a> Next<'a> {
    pub(crate) fn new(layers: &'a [Arc<dyn Layer>], source: &'a dyn Source) -> Self {
        Self { layers, source }
    }

    /// See [`Source::connects`].
    pub fn source_connects(&self) -> u64 {
        self.source.connects()
    }

    /// Runs the call through the remaining layers and the source.
    pub fn run(self, call: Call) -> BoxFuture<'a, Result<Reply>> {
        match self.layers.split_first() {
            Some((layer, layers)) => {
                let source = self.source;
                layer.call(call, Next { layers, source })
            }
            None => Box::pin(guard_reply(Step::Serve, async move {
                self.source.call(call).await
            })),
        }
    }
}
