//! Who sends a message, and to which endpoint.

use std::sync::Arc;

use tidegate_core::{
    AffinityKey, Caller, ClientContext, CorrelationId, Operation, RawJson, Request, Scope,
};
use tidegate_mcp::revision::Method;

/// An authenticated caller at one endpoint.
#[derive(Clone)]
pub(crate) struct Requester {
    pub(crate) caller: Arc<Caller>,
    pub(crate) scope: Scope,
    /// Set on a duplex connection, whose messages all come from one client.
    pub(crate) affinity: Option<AffinityKey>,
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
        let client = ClientContext {
            affinity: client.affinity.or(self.affinity),
            ..client
        };
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
