//! A handle to the whole gateway, for sources that search the others or call them.

use std::sync::{Arc, OnceLock, Weak};

use futures_util::stream::{self, BoxStream, StreamExt};

use super::GatewayInner;
use crate::changes::Interest;
use crate::names::NameMap;
use crate::{
    Caller, Change, ChangeFilter, ChangeNotice, ClientContext, Error, Reply, Request, Result,
    Scope, SearchIndex, SourceId, Viewer,
};

/// Created before the gateway, and connected to it when it is created.
#[derive(Clone, Default)]
pub struct GatewayHandle(Arc<OnceLock<Weak<GatewayInner>>>);

impl GatewayHandle {
    pub(super) fn connect(&self, gateway: Weak<GatewayInner>) {
        // An error means that the handle belongs to another gateway already.
        self.0.set(gateway).ok();
    }

    fn gateway(&self) -> Result<Arc<GatewayInner>> {
        let gateway = self.0.get().and_then(Weak::upgrade);
        gateway.ok_or_else(|| Error::internal("the gateway is not running"))
    }

    /// Everything that a viewer can use in a scope.
    pub fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Result<Arc<SearchIndex>> {
        Ok(self.gateway()?.index(scope, viewer))
    }

    /// Serves a request as the gateway does: through the same layers.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        self.gateway()?.handle(request).await
    }

    /// Each change of any source's lists, from now on.
    pub fn list_changes(&self) -> BoxStream<'static, Change> {
        let Ok(gateway) = self.gateway() else {
            return stream::pending().boxed();
        };
        let interest = Interest {
            caller: None,
            filter: ChangeFilter {
                elicitation_complete: false,
                extensions: false,
                ..ChangeFilter::all_lists()
            },
            resources: Vec::new(),
            only: None,
        };
        gateway.hub.listen(interest).boxed()
    }

    /// All change notices of all sources from now on, for any recipients. A receiver that
    /// falls behind misses some.
    pub fn change_notices(&self) -> BoxStream<'static, (SourceId, ChangeNotice)> {
        let Ok(gateway) = self.gateway() else {
            return stream::pending().boxed();
        };
        gateway.hub.notices().boxed()
    }

    /// The names at the endpoint of all sources, as the gateway itself sees them.
    pub(super) fn all_names(&self) -> Result<Arc<NameMap>> {
        let viewer = Viewer {
            caller: &Caller::local(),
            client: &ClientContext::of_gateway(),
        };
        let view = self.gateway()?.view(&Scope::All, &viewer);
        Ok(Arc::clone(&view.names))
    }
}
