//! Which requests can be served while some sources are still starting: those whose target is known,
//! whatever the other sources are going to list.

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;

use super::view::View;
use super::{Gateway, GatewayInner};
use crate::{GatewayOperation, Operation, Request, Scope};

impl Gateway {
    /// Waits until the gateway is open, or the target of the request is known.
    pub(super) async fn wait_for_sources(&self, request: &Request) {
        if self.is_open() {
            return;
        }
        let opened = std::pin::pin!(self.opened.cancelled());
        let known = std::pin::pin!(self.inner.wait_for_target(request));
        match select(opened, known).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }
}

impl GatewayInner {
    /// Waits until the target of a request is known, or every source is ready.
    async fn wait_for_target(&self, request: &Request) {
        let sources = self.all_sources();
        let mut ready: FuturesUnordered<_> = sources.map(|(_, source)| source.ready()).collect();
        loop {
            let view = self.view(&request.scope, &request.viewer());
            if self.is_target_known(request, &view) || ready.next().await.is_none() {
                return;
            }
        }
    }

    /// Whether sources that are still loading cannot change where a request goes, and its source is
    /// ready to serve it.
    pub(super) fn is_target_known(&self, request: &Request, view: &View) -> bool {
        if matches!(request.scope, Scope::Source(_)) {
            let mut sources = self.configured_in(&request.scope);
            let is_independent = sources.all(|(_, source)| !source.depends_on_other_sources());
            return is_independent && !view.is_loading();
        }
        if needs_only_lists(&request.operation) {
            return !view.is_loading();
        }
        let Some(target) = known_target(view, &request.operation) else {
            return false;
        };
        let source = target.source;
        let is_settled = target.is_qualified || !view.is_loading_before(source);
        is_settled
            && !view.is_source_loading(source)
            && !view.source(source).depends_on_other_sources()
    }
}

/// Whether a request has to wait for lists that are being loaded for this kind of viewer. At the endpoint
/// of one source it waits, as it would at the server; at the endpoint of all sources only if its target
/// is not known yet.
pub(super) fn needs_final_lists(request: &Request, view: &View) -> bool {
    if !view.is_preliminary() {
        return false;
    }
    let has_target = matches!(
        request.operation,
        Operation::Tool { .. } | Operation::Prompt { .. } | Operation::Resource { .. }
    );
    let is_known = || known_target(view, &request.operation).is_some();
    match request.scope {
        Scope::Source(_) => !has_target || !is_known(),
        Scope::All => has_target && !is_known(),
    }
}

/// Whether a request can be served once the lists of all sources are known, which may have been saved.
fn needs_only_lists(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Gateway(
            GatewayOperation::Discover
                | GatewayOperation::List { .. }
                | GatewayOperation::Listen(_)
        )
    )
}

/// The source that a name or URI leads to.
struct KnownTarget {
    source: usize,
    /// Whether the name or URI names its source. Otherwise an earlier source could have it too.
    is_qualified: bool,
}

fn known_target(view: &View, operation: &Operation) -> Option<KnownTarget> {
    let (source, is_qualified) = match operation {
        Operation::Tool { name } => view.names.known_tool(name)?,
        Operation::Prompt { name } => view.names.known_prompt(name)?,
        Operation::Resource { uri } => view.names.listed_or_owned_resource(uri)?,
        Operation::Skill(operation) => view.names.listed_or_owned_resource(operation.uri()?)?,
        Operation::Gateway(_)
        | Operation::Completion { .. }
        | Operation::Task { .. }
        | Operation::Extension { .. } => return None,
    };
    Some(KnownTarget {
        source,
        is_qualified,
    })
}
