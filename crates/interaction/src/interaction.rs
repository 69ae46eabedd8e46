//! The questions of one source: selects the adapter for each call.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{Call, ChangeSender, EventStream, Result, Seal};
use tidegate_mcp::Era;

use crate::capabilities;
use crate::modern_client::ParkedCalls;
use crate::url_elicitation::UrlElicitations;

/// Lets the server of a source ask clients of either era.
pub struct Interaction {
    /// Calls that wait for the answers of modern clients.
    pub parked_calls: Arc<ParkedCalls>,
    pub url_elicitations: Arc<UrlElicitations>,
}

impl Interaction {
    pub fn new(seal: Arc<Seal>, parked_call_timeout: Duration, changes: ChangeSender) -> Self {
        Self {
            parked_calls: ParkedCalls::new(seal, parked_call_timeout),
            url_elicitations: UrlElicitations::new(changes),
        }
    }

    /// Resumes the parked call that this call continues. `None` if the call has to be sent to
    /// the server.
    pub fn resume(&self, call: &Call, server: Era) -> Result<Option<EventStream>> {
        match must_park(call, server) {
            true => self.parked_calls.resume(call),
            false => Ok(None),
        }
    }

    /// The events of a call in the form that its client understands.
    pub fn adapt(&self, events: EventStream, call: &Call, server: Era) -> EventStream {
        if must_park(call, server) {
            return self.parked_calls.adapt(events, call);
        }
        let events = match server {
            Era::Legacy => events,
            Era::Modern => capabilities::reject_undeclared(events, &call.client.capabilities),
        };
        self.url_elicitations.translate(events)
    }
}

/// A legacy server asks in the middle of a call, when a modern client cannot be reached.
fn must_park(call: &Call, server: Era) -> bool {
    call.client.era == Era::Modern && server == Era::Legacy
}
