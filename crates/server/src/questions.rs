//! The questions a session's client has been asked and has not answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::{Question, RawJson};
use tidegate_mcp::revision::question::{answered, can_be_asked, question};
use tidegate_mcp::{Answer, RequestId, Revision};

/// Questions that one client may have before it at once.
const MOST: usize = 64;

/// Questions by the ids we gave them.
pub(crate) struct Questions {
    revision: Revision,
    capabilities: RawJson,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    asked: HashMap<String, Question>,
}

impl Questions {
    pub(crate) fn new(revision: Revision, capabilities: RawJson) -> Arc<Self> {
        Arc::new(Self {
            revision,
            capabilities,
            open: Mutex::default(),
        })
    }

    /// Puts a question; none if this client cannot be asked it. Then it is declined.
    fn ask(&self, asked: Question) -> Option<(String, String)> {
        if !can_be_asked(self.revision, &self.capabilities, asked.kind) {
            return None;
        }
        let mut open = self.lock();
        if open.asked.len() >= MOST {
            return None;
        }
        open.next += 1;
        let id = RequestId::new(RawJson::string(&format!("tidegate-{}", open.next)))?;
        let json = question(&id, asked.kind, &asked.params);
        let key = id.key();
        open.asked.insert(key.clone(), asked);
        Some((key, json))
    }

    /// Takes a client's answer; one to nothing is nothing.
    pub(crate) fn answer(&self, id: &RequestId, answer: Answer) {
        let asked = self.lock().asked.remove(&id.key());
        if let Some(asked) = asked {
            asked.answer(answered(answer));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The questions of one call. When the call is over, so are they.
pub(crate) struct Asking {
    questions: Arc<Questions>,
    asked: Vec<String>,
}

impl Asking {
    pub(crate) fn new(questions: Arc<Questions>) -> Self {
        Self {
            questions,
            asked: Vec::new(),
        }
    }

    /// Puts a question to the client: the message to send.
    pub(crate) fn ask(&mut self, question: Question) -> Option<String> {
        let (key, json) = self.questions.ask(question)?;
        self.asked.push(key);
        Some(json)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut open = self.questions.lock();
        for key in &self.asked {
            open.asked.remove(key);
        }
    }
}
