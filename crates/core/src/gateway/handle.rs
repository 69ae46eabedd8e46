//! A window onto the whole gateway, for sources that tell of the others or act on them.

use std::sync::{Arc, OnceLock, Weak};

use futures_util::stream::{self, BoxStream, StreamExt};

use super::Shared;
use crate::changes::Interest;
use crate::{
    Change, ChangeFilter, ChangeNotice, Error, Reply, Request, Result, Scope, SearchIndex,
    SourceId, Viewer,
};

/// Made before the gateway, and given to it: it shows nothing until then.
#[derive(Clone, Default)]
pub struct GatewayHandle(Arc<OnceLock<Weak<Shared>>>);

impl GatewayHandle {
    pub(super) fn open(&self, shared: Weak<Shared>) {
        // An error means that another gateway has it already.
        self.0.set(shared).ok();
    }

    fn shared(&self) -> Result<Arc<Shared>> {
        let shared = self.0.get().and_then(Weak::upgrade);
        shared.ok_or_else(|| Error::internal("the gateway is not there"))
    }

    /// Everything that an viewer can use in a scope.
    pub fn index(&self, scope: &Scope, viewer: &Viewer<'_>) -> Result<Arc<SearchIndex>> {
        Ok(self.shared()?.index(scope, viewer))
    }

    /// Answers a request as the gateway would: through the same layers.
    pub async fn handle(&self, request: Request) -> Result<Reply> {
        self.shared()?.handle(request).await
    }

    /// Each change of any source's lists, from now on.
    pub fn list_changes(&self) -> BoxStream<'static, Change> {
        let Ok(shared) = self.shared() else {
            return stream::pending().boxed();
        };
        let interest = Interest {
            listener: None,
            filter: ChangeFilter {
                elicitation_complete: false,
                ..ChangeFilter::all_lists()
            },
            watched: Vec::new(),
            only: None,
        };
        shared.hub.listen(interest).boxed()
    }

    /// All that any source tells from now on, whoever it is for. What is told too fast is missed.
    pub fn change_notices(&self) -> BoxStream<'static, (SourceId, ChangeNotice)> {
        let Ok(shared) = self.shared() else {
            return stream::pending().boxed();
        };
        let ids: Vec<_> = shared.sources.iter().map(|(id, _)| id.clone()).collect();
        let told = shared.hub.change_notices();
        told.map(move |(source, telling)| (ids[source].clone(), telling))
            .boxed()
    }
}
