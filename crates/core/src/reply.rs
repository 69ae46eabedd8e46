//! What comes back: one outcome, or events and then one outcome.

use std::fmt;
use std::time::Duration;

use futures_util::stream::BoxStream;

use crate::{CacheScope, Change, ChangeFilter, LogLevel, Question, QuestionKind, RawJson, Result};

/// The answer to a call.
pub enum Reply {
    Done(Outcome),
    /// Ends after the first `Event::Done` or error. Dropping it cancels the call.
    Stream(EventStream),
}

pub type EventStream = BoxStream<'static, Result<Event>>;

/// How a call ended well.
#[derive(Clone, Debug)]
pub enum Outcome {
    Complete {
        result: RawJson,
        /// How long the result may be kept, where results of this kind may be kept at all.
        hint: Option<CacheHint>,
    },
    /// The source needs something from the client before it can go on.
    InputRequired(RawJson),
    /// The same, of a source of our own: one question, whose answer comes back under its key.
    Question {
        key: &'static str,
        kind: QuestionKind,
        params: RawJson,
    },
    /// The source goes on by itself: this says under which id it can be asked how it is.
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

/// How long a result stays good, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHint {
    pub ttl: Duration,
    pub scope: CacheScope,
}

/// Something that happens while a call is under way.
#[derive(Debug)]
pub enum Event {
    /// Parameters of a progress notification, without its token.
    Progress(RawJson),
    /// Parameters of a log message.
    Log {
        level: LogLevel,
        params: RawJson,
    },
    /// The first event of a stream of changes: what of the filter is honoured.
    Acknowledged(ChangeFilter),
    Change(Change),
    /// How a call is that goes on after its answer, for one who listens.
    Task(RawJson),
    /// The source cannot go on before the client has answered this.
    Question(Question),
    /// A question of this call is withdrawn, and says so itself.
    QuestionWithdrawn,
    /// What the client was asked to do elsewhere, under this id, is done.
    ElicitationComplete(String),
    /// Nothing but a sign of life.
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
