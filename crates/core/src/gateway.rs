//! The gateway: resolves a request into a call to one source and runs it through the layers.

mod config;
mod cursor;
mod explain;
mod exposure;
mod gateway_source;
mod handle;
mod inner;
mod name_conflicts;
mod resolve;
mod rewrite;
mod task_ids;
mod task_subscriptions;
mod view;
mod view_cache;

use std::sync::Arc;

use futures_util::future::{FutureExt, join_all};
use tokio_util::sync::CancellationToken;

use crate::{AffinityKey, Layer, Reply, Request, Result, Scope, Source, SourceId};
pub use config::GatewayConfig;
pub use exposure::{EndpointConfig, EndpointConfigs, Exposure};
pub use handle::GatewayHandle;
use inner::GatewayInner;
pub use name_conflicts::NameConflictCheck;

/// The gateway: resolves requests and serves them through the layers.
pub struct Gateway {
    inner: Arc<GatewayInner>,
    /// Cancelled when the gateway starts to serve calls.
    opened: CancellationToken,
}

impl Gateway {
    /// `sources` are in the order of the configuration, `layers` in the order in which a call
    /// passes them.
    pub fn new(
        config: GatewayConfig,
        sources: Vec<(SourceId, Arc<dyn Source>)>,
        layers: Vec<Arc<dyn Layer>>,
    ) -> Self {
        let inner = GatewayInner::new(config, sources, layers);
        inner.config.gateway_handle.connect(Arc::downgrade(&inner));
        let gateway = Self {
            inner,
            opened: CancellationToken::new(),
        };
        if gateway.ready().now_or_never().is_some() {
            gateway.open();
        }
        gateway
    }

    /// Waits until every source was reached once, or has failed once.
    pub async fn ready(&self) {
        let sources = self.inner.all_sources();
        join_all(sources.map(|(_, source)| source.ready())).await;
    }

    /// Starts to serve calls. Until then they wait.
    pub fn open(&self) {
        self.opened.cancel();
    }

    pub fn is_open(&self) -> bool {
        self.opened.is_cancelled()
    }

    /// Serves one request. Dropping the future or the reply's stream cancels it.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        self.opened.cancelled().await;
        self.inner.handle(request).await
    }

    /// Forwards the changes of the sources to the listeners, for as long as it is polled.
    pub async fn run(&self) {
        let sources = self.inner.all_sources();
        let changes = sources.map(|(id, source)| (id.clone(), source.changes()));
        self.inner.hub.run(changes).await;
    }

    /// Tells the sources of a scope that the roots of the client with this affinity key changed.
    pub fn roots_changed(&self, scope: &Scope, affinity: AffinityKey) {
        for (_, source) in self.inner.configured_in(scope) {
            source.roots_changed(affinity);
        }
    }

    /// Ends every subscription to changes. Calls in flight continue.
    pub fn drain(&self) {
        self.inner.draining.cancel();
    }

    /// Whether this source has its own endpoint.
    pub fn has_source(&self, id: &SourceId) -> bool {
        let mut sources = self.inner.sources.iter();
        sources.any(|(known, _)| known == id)
    }
}
