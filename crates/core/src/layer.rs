//! What a call passes on its way to a source: a list of layers, each one function.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::gateway::guard;
use crate::{Call, Health, Reply, Result, Source};

/// One concern of every call: watching, permitting, limiting. A layer never parses params.
pub trait Layer: Send + Sync + 'static {
    fn call<'a>(&'a self, call: Call, next: Next<'a>) -> BoxFuture<'a, Result<Reply>>;

    /// What the layer has noticed about the source it stands before.
    fn health(&self) -> Health {
        Health::Good
    }
}

/// The rest of the way. It can be gone more than once.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    source: &'a dyn Source,
}

impl<'a> Next<'a> {
    pub(crate) fn new(layers: &'a [Arc<dyn Layer>], source: &'a dyn Source) -> Self {
        Self { layers, source }
    }

    /// Goes on: through the remaining layers, then to the source.
    pub fn run(self, call: Call) -> BoxFuture<'a, Result<Reply>> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.call(
                call,
                Next {
                    layers,
                    source: self.source,
                },
            ),
            None => Box::pin(guard::reply(async move { self.source.call(call).await })),
        }
    }
}
