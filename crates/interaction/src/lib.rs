//! Questions to clients. A *question* is a request that a server sends to its client: elicitation,
//! sampling or roots.
//!
//! The two eras of the protocol carry questions differently. A legacy server sends a request in the
//! middle of a call and waits for the response. A modern server ends the call with an
//! `input_required` result, and the client sends a *continuation*: the same request with the answers
//! (a multi round trip).
//! The gateway connects any client to any server:
//!
//! | client → server | how | where |
//! |---|---|---|
//! | legacy → legacy | The question is an event of the call. The transport sends it to the client on the stream of that call and matches the answer by id. | [`ClientQuestions`] |
//! | legacy → modern | The questions of an `input_required` result become events as above. With the answers, the gateway sends the continuation. | [`run_round_trips`] |
//! | modern → legacy | The call is parked and its request ends with `input_required` and a sealed state. The client's continuation resumes the parked call. | [`ParkedCalls`] |
//! | modern → modern | `input_required` results and continuations pass unchanged. | [`Interaction::adapt`] |
//!
//! Every tool call, prompt and read in a legacy session passes through [`run_round_trips`],
//! which does nothing unless the result is `input_required`.
//!
//! [`Interaction`] is the source's side of this: `upstream` passes the events of every call
//! through it, and it selects the row of the table. [`legacy_client`] and
//! [`modern_client`] are the adapters for the two eras of clients. They share [`capabilities`], which decides what a client
//! can be asked, and [`answers`], which validates what it answers. [`url_elicitation`] translates
//! the ids of URL elicitations.
//!
//! A question reaches only the client of the call it belongs to. A client that lacks the
//! capability is never asked, and an unanswered question is declined.
//!
//! Must not know: transports, connections and JSON-RPC. `mcp` encodes and decodes all messages.

pub mod answers;
pub mod capabilities;
pub mod legacy_client;
pub mod modern_client;
pub mod url_elicitation;

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::{Call, ChangeSender, Era, EventStream, Result, Seal};

pub use legacy_client::{CallQuestions, ClientQuestions, run_round_trips};
pub use modern_client::ParkedCalls;
pub use url_elicitation::UrlElicitations;

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
