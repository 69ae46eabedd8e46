//! A request that was resolved to a source.

use std::sync::Arc;

use crate::{
    Caller, ClientContext, CorrelationId, GatewayOperation, Operation, RawJson, Scope, SourceId,
    Viewer,
};

/// One call to one source, under the source's native names.
#[derive(Clone, Debug)]
pub struct Call {
    pub correlation_id: CorrelationId,
    pub caller: Arc<Caller>,
    pub scope: Scope,
    /// The method's name on the wire, for logs and metrics only.
    pub label: &'static str,
    pub client: ClientContext,
    pub source: SourceId,
    pub operation: Operation,
    /// Whether the call is idempotent.
    pub idempotent: bool,
    /// The params as the client sent them. Names in `operation` override names in here.
    pub params: RawJson,
}

impl Call {
    pub fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: &self.caller,
            client: &self.client,
        }
    }

    /// Whether this is a subscription to changes, which has no deadline.
    pub fn is_listen(&self) -> bool {
        matches!(
            self.operation,
            Operation::Gateway(GatewayOperation::Listen(_))
        )
    }
}
