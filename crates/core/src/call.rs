//! A request that has found its source.

use std::sync::Arc;

use crate::{Caller, ClientContext, CorrelationId, Operation, RawJson, Scope, SourceId, Viewer};

/// One call at one source, under the source's own names.
#[derive(Clone, Debug)]
pub struct Call {
    pub correlation: CorrelationId,
    pub caller: Arc<Caller>,
    pub scope: Scope,
    /// The method's name on the wire, for logs and metrics alone.
    pub label: &'static str,
    pub client: ClientContext,
    pub source: SourceId,
    pub operation: Operation,
    /// Whether asking twice does no more than asking once.
    pub idempotent: bool,
    /// The parameters as the client sent them. Names in `ask` win over names in here.
    pub params: RawJson,
}

impl Call {
    pub fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: &self.caller,
            client: &self.client,
        }
    }

    /// Whether the call is meant to stay open: a stream of changes has no deadline.
    pub fn is_listen(&self) -> bool {
        matches!(
            self.operation,
            Operation::Gateway(crate::GatewayOperation::Listen(_))
        )
    }
}
