//! Questions: requests from a source to the client of a call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tokio::sync::oneshot;

use crate::RawJson;

/// What a source asks the client for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Input from the user: elicitation.
    Elicit,
    /// A completion from the client's model: sampling.
    Sample,
    /// The folders the client works in.
    Roots,
}

/// A question to the client of one call. Dropping it declines it.
pub struct Question {
    pub kind: QuestionKind,
    pub params: RawJson,
    answer: oneshot::Sender<Result<RawJson, Declined>>,
    withdrawn: Withdrawal,
    /// Called with the answer.
    on_answer: Option<Box<OnAnswer>>,
}

type OnAnswer = dyn FnOnce(&RawJson) + Send;

/// Whether the source has withdrawn a question.
#[derive(Clone, Debug, Default)]
pub struct Withdrawal(Arc<AtomicBool>);

impl Withdrawal {
    pub fn withdraw(&self) {
        self.0.store(true, Relaxed);
    }

    pub fn is_withdrawn(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The client did not answer: its error code, if it sent one, and the message.
#[derive(Clone, Debug)]
pub struct Declined {
    pub code: Option<i64>,
    pub message: String,
}

impl Declined {
    /// There is no client that can be asked.
    pub fn no_client() -> Self {
        Self {
            code: None,
            message: "no client can answer this question".to_owned(),
        }
    }
}

/// Receives the answer to a question.
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
            on_answer: None,
        };
        (question, pending)
    }

    /// The same question with other params.
    #[must_use]
    pub fn with_params(self, params: RawJson) -> Self {
        Self { params, ..self }
    }

    /// The same question. `on_answer` is called when the client answers it.
    #[must_use]
    pub fn on_answer(self, on_answer: impl FnOnce(&RawJson) + Send + 'static) -> Self {
        Self {
            on_answer: Some(Box::new(on_answer)),
            ..self
        }
    }

    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.is_withdrawn()
    }

    pub fn answer(self, answer: Result<RawJson, Declined>) {
        if let (Ok(answer), Some(on_answer)) = (&answer, self.on_answer) {
            on_answer(answer);
        }
        // An error means that the source no longer waits.
        self.answer.send(answer).ok();
    }
}

impl PendingAnswer {
    /// A handle that withdraws the question.
    pub fn withdrawal(&self) -> Withdrawal {
        self.withdrawn.clone()
    }

    pub async fn wait(self) -> Result<RawJson, Declined> {
        self.answer
            .await
            .unwrap_or_else(|_| Err(Declined::no_client()))
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
