//! The reply to a call: one outcome, or events and then one outcome.
//!
//! The combinators over replies live here, so that layers, sources and transports agree on when a
//! reply ends: with the first outcome or error.

mod combinators;
pub(crate) mod guard;

use std::fmt;
use std::time::Duration;

use futures_util::stream::BoxStream;

use crate::{
    CacheScope, Change, ChangeFilter, Error, LoggingLevel, Question, QuestionKind, RawJson, Result,
};

pub use combinators::{on_end, unfold_events};

/// The reply to a call.
pub enum Reply {
    Done(Outcome),
    /// Ends after the first `Event::Done` or error. Dropping it cancels the call.
    Stream(EventStream),
}

pub type EventStream = BoxStream<'static, Result<Event>>;

/// How a call ended without an error.
#[derive(Clone, Debug)]
pub enum Outcome {
    Complete {
        result: RawJson,
        /// How long the result may be cached, for results that can be cached at all.
        hint: Option<CacheHint>,
    },
    /// A source needs input from the client before it can continue, as an `input_required` result.
    InputRequired(RawJson),
    /// The same, from a built-in source: one question. The client's answer is returned under
    /// `key`.
    Question {
        key: &'static str,
        kind: QuestionKind,
        params: RawJson,
    },
    /// The source continues in the background: a task, with its id.
    Task(RawJson),
}

impl Outcome {
    pub fn complete(result: RawJson) -> Self {
        Self::Complete { result, hint: None }
    }

    pub fn cacheable(result: RawJson, ttl: Duration, scope: CacheScope) -> Self {
        Self::Complete {
            result,
            hint: Some(CacheHint { ttl, scope }),
        }
    }
}

/// How long a result may be cached, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHint {
    pub ttl: Duration,
    pub scope: CacheScope,
}

/// Something that happens during a call.
#[derive(Debug)]
pub enum Event {
    /// Parameters of a progress notification, without its token.
    Progress(RawJson),
    /// Parameters of a log message.
    Log {
        level: LoggingLevel,
        params: RawJson,
    },
    /// The first event of a change subscription.
    Acknowledged {
        /// The part of the filter that is honoured.
        filter: ChangeFilter,
        /// The resources that cannot be subscribed to, and why.
        refused: Vec<(String, Error)>,
    },
    Change(Change),
    /// The new state of a task that the client subscribed to.
    Task(RawJson),
    /// The source waits for the client's answer to this question.
    Question(Question),
    /// A question of this call was withdrawn; `Question::is_withdrawn` says which.
    QuestionWithdrawn,
    /// The URL elicitation with this id is complete.
    ElicitationComplete(String),
    /// A notification of an extension that the gateway does not know.
    Extension {
        method: String,
        params: RawJson,
    },
    /// The source is still working.
    KeepAlive,
    Done(Outcome),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}
