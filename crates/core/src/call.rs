//! A request that has found its source.

use std::sync::Arc;

use crate::{Ask, Audience, Caller, CorrelationId, RawJson, Scope, SourceId, Terms};

/// One call at one source, under the source's own names.
#[derive(Clone, Debug)]
pub struct Call {
    pub correlation: CorrelationId,
    pub caller: Arc<Caller>,
    pub scope: Scope,
    /// The method's name on the wire, for logs and metrics alone.
    pub label: &'static str,
    pub terms: Terms,
    pub source: SourceId,
    pub ask: Ask,
    /// Whether asking twice does no more than asking once.
    pub repeatable: bool,
    /// The parameters as the client sent them. Names in `ask` win over names in here.
    pub params: RawJson,
}

impl Call {
    pub fn audience(&self) -> Audience<'_> {
        Audience {
            caller: &self.caller,
            terms: &self.terms,
        }
    }

    /// Whether the call is meant to stay open: a stream of changes has no deadline.
    pub fn is_standing(&self) -> bool {
        matches!(self.ask, Ask::Own(crate::Own::Listen(_)))
    }
}
