//! Who sends a message, and to which endpoint.

use std::sync::Arc;

use tidegate_core::{Caller, ClientContext, CorrelationId, Operation, RawJson, Request, Scope};
use tidegate_mcp::revision::Method;

/// An authenticated caller at one endpoint.
#[derive(Clone)]
pub(crate) struct Requester {
    pub(crate) caller: Arc<Caller>,
    pub(crate) scope: Scope,
}

impl Requester {
    /// A request of this caller for the core.
    pub(crate) fn request(
        &self,
        method: Method,
        operation: Operation,
        params: RawJson,
        client: ClientContext,
    ) -> Request {
        Request {
            correlation_id: CorrelationId::generate(),
            caller: Arc::clone(&self.caller),
            scope: self.scope.clone(),
            label: method.name(),
            client,
            operation,
            params,
            is_continuation: false,
            precondition: None,
        }
    }
}
