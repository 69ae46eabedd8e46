//! What a source asks of the client in the middle of a call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio::sync::oneshot;

use crate::RawJson;

/// The three things a source may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Something from the user.
    Elicit,
    /// Something from the client's model.
    Sample,
    /// The folders the client works in.
    Roots,
}

/// A question on its way to the client of one call. Dropped, it is declined.
pub struct Question {
    pub kind: QuestionKind,
    pub params: RawJson,
    answer: oneshot::Sender<Result<RawJson, Declined>>,
    withdrawn: Withdrawal,
}

/// Whether who asked still wants to know.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal(Arc<AtomicBool>);

impl Withdrawal {
    /// The one who asked does not want to know any more.
    pub fn withdraw(&self) {
        self.0.store(true, Relaxed);
    }

    pub fn is_withdrawn(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The client did not answer: why, in its own words and number where it gave some.
#[derive(Clone, Debug)]
pub struct Declined {
    pub code: Option<i64>,
    pub message: String,
}

/// Where the answer to a question comes out.
pub struct PendingAnswer {
    answer: oneshot::Receiver<Result<RawJson, Declined>>,
    withdrawn: Withdrawal,
}

impl Question {
    pub fn new(kind: QuestionKind, params: RawJson) -> (Self, PendingAnswer) {
        let (answer, pending) = oneshot::channel();
        let withdrawn = Withdrawal::default();
        let pending = PendingAnswer {
            answer: pending,
            withdrawn: withdrawn.clone(),
        };
        let question = Self {
            kind,
            params,
            answer,
            withdrawn,
        };
        (question, pending)
    }

    /// The same question in other words.
    #[must_use]
    pub fn with_params(self, params: RawJson) -> Self {
        Self { params, ..self }
    }

    /// Whether the one who asked does not want to know any more.
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.is_withdrawn()
    }

    /// Answers it. Nobody may wait any more.
    pub fn answer(self, answer: Result<RawJson, Declined>) {
        self.answer.send(answer).ok();
    }
}

impl PendingAnswer {
    /// With which the question is withdrawn.
    pub fn withdrawal(&self) -> Withdrawal {
        self.withdrawn.clone()
    }

    pub async fn wait(self) -> Result<RawJson, Declined> {
        self.answer.await.unwrap_or_else(|_| {
            Err(Declined {
                code: None,
                message: "no client is there to answer this".to_owned(),
            })
        })
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("kind", &self.kind)
            .field("params", &self.params)
            .finish()
    }
}
