//! A client's request, in one form for all revisions.

use std::fmt;
use std::sync::Arc;

use crate::{Caller, ClientContext, CorrelationId, Operation, RawJson, Result, SourceId, Viewer};

/// One request of one caller, complete in itself.
#[derive(Debug)]
pub struct Request {
    pub correlation_id: CorrelationId,
    pub caller: Arc<Caller>,
    pub scope: Scope,
    /// The method's name on the wire, for logs and metrics only.
    pub label: &'static str,
    pub client: ClientContext,
    pub operation: Operation,
    /// The params as the client sent them.
    pub params: RawJson,
    /// Whether this is a continuation: the previous request was answered with questions.
    pub is_continuation: bool,
    /// A condition on the tool that is called.
    pub precondition: Option<Precondition>,
}

impl Request {
    /// The continuation of this request in a multi round trip: the same request with other params.
    #[must_use]
    pub fn continuation(&self, params: RawJson) -> Self {
        Self {
            correlation_id: self.correlation_id,
            caller: Arc::clone(&self.caller),
            scope: self.scope.clone(),
            label: self.label,
            client: self.client.clone(),
            operation: self.operation.clone(),
            params,
            is_continuation: true,
            precondition: None,
        }
    }

    pub(crate) fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: &self.caller,
            client: &self.client,
        }
    }
}

/// A check that needs the definition of the tool, which is known only after the request is resolved.
pub struct Precondition(Box<Check>);

type Check = dyn FnOnce(&RawJson) -> Result<()> + Send + Sync;

impl Precondition {
    pub fn new(check: impl FnOnce(&RawJson) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Box::new(check))
    }

    pub(crate) fn check(self, definition: &RawJson) -> Result<()> {
        (self.0)(definition)
    }
}

impl fmt::Debug for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Precondition")
    }
}

/// Which endpoint of the gateway a request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All sources, under names that include the source.
    All,
    /// One source, under its native names.
    Source(SourceId),
}
