//! The questions a session's client has been asked and has not answered.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Declined, Error, Question, QuestionKind, RawJson};
use tidegate_mcp::revision::client::url_elicitations;
use tidegate_mcp::revision::client_capabilities::capability_error;
use tidegate_mcp::revision::question::{answered, elicitation_id, question, withdrawal};
use tidegate_mcp::{Answer, RequestId};

/// Questions that one client may have before it at once.
const MOST: usize = 64;

/// Questions by the ids we gave them.
pub(crate) struct Questions {
    capabilities: RawJson,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    asked: HashMap<String, Question>,
    /// Those whose call was answered before they were, oldest first.
    left: VecDeque<String>,
    /// What the user was sent to do elsewhere, oldest first.
    errands: VecDeque<String>,
}

impl Open {
    /// Whether one more may be asked. A question that nobody waits for makes room.
    fn has_room(&mut self) -> bool {
        while self.asked.len() >= MOST
            && let Some(key) = self.left.pop_front()
        {
            self.asked.remove(&key);
        }
        self.asked.len() < MOST
    }

    /// Notes that the user is sent elsewhere.
    fn sent_elsewhere(&mut self, elicitation_id: String) {
        if self.errands.len() == MOST {
            self.errands.pop_front();
        }
        self.errands.push_back(elicitation_id);
    }
}

impl Questions {
    pub(crate) fn new(capabilities: RawJson) -> Arc<Self> {
        Arc::new(Self {
            capabilities,
            open: Mutex::default(),
        })
    }

    /// Puts a question; none if this client cannot be asked it, which who asks is told.
    fn ask(&self, asked: Question) -> Option<(String, String)> {
        if let Some(why) = capability_error(&self.capabilities, asked.kind, &asked.params) {
            asked.answer(Err(why));
            return None;
        }
        let mut open = self.lock();
        if !open.has_room() {
            asked.answer(Err(too_many()));
            return None;
        }
        open.next += 1;
        let id = RequestId::new(RawJson::string(&format!("tidegate-{}", open.next)))?;
        let json = question(&id, asked.kind, &asked.params);
        if let Some(elicitation_id) = elicitation_id(asked.kind, &asked.params) {
            open.sent_elsewhere(elicitation_id);
        }
        let key = id.key();
        open.asked.insert(key.clone(), asked);
        Some((key, json))
    }

    /// Whether it was this client's user who was sent to do this. It is asked once.
    pub(crate) fn is_its_errand(&self, elicitation_id: &str) -> bool {
        let mut open = self.lock();
        let at = open
            .errands
            .iter()
            .position(|known| known == elicitation_id);
        at.and_then(|at| open.errands.remove(at)).is_some()
    }

    /// Takes a client's answer; one to nothing is nothing.
    pub(crate) fn answer(&self, id: &RequestId, answer: Answer) {
        let asked = self.lock().asked.remove(&id.key());
        if let Some(asked) = asked {
            let answer = answered(asked.kind, answer);
            asked.answer(answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }
}

fn too_many() -> Declined {
    Declined {
        code: None,
        message: "this client has too many questions before it".to_owned(),
    }
}

/// The questions of one call. When the call is called off, so are they.
pub(crate) struct Asking {
    questions: Arc<Questions>,
    asked: Vec<String>,
}

impl Asking {
    /// Notes where an error sends the user.
    pub(crate) fn note(&self, error: &Error) {
        for page in url_elicitations(error).into_iter().flatten() {
            if let Some(elicitation_id) = elicitation_id(QuestionKind::Elicit, &page) {
                self.questions.lock().sent_elsewhere(elicitation_id);
            }
        }
    }

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

    /// Takes back what is not asked any more: the message that says so.
    pub(crate) fn withdrawn(&mut self) -> Option<String> {
        let mut open = self.questions.lock();
        let is_withdrawn = |key: &String| open.asked.get(key).is_some_and(Question::is_withdrawn);
        let at = self.asked.iter().position(is_withdrawn)?;
        let key = self.asked.remove(at);
        open.asked.remove(&key);
        // The ids that we give are strings.
        Some(withdrawal(key.trim_start_matches('"')))
    }

    /// The call was answered. What the client was asked it may still answer: a server that asks for
    /// folders as soon as it is there does not wait for them with its first answer.
    pub(crate) fn leave(&mut self) {
        let mut open = self.questions.lock();
        open.left.extend(self.asked.drain(..));
        let Open { asked, left, .. } = &mut *open;
        left.retain(|key| asked.contains_key(key));
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

#[cfg(test)]
mod tests {
    use tidegate_core::{PendingAnswer, QuestionKind};

    use super::*;

    fn questions() -> Arc<Questions> {
        let can = serde_json::json!({ "roots": {} });
        Questions::new(can.into())
    }

    fn put(asking: &mut Asking) -> Option<PendingAnswer> {
        let (question, pending) = Question::new(QuestionKind::Roots, RawJson::empty_object());
        asking.ask(question).map(|_| pending)
    }

    fn id(number: usize) -> RequestId {
        RequestId::new(RawJson::string(&format!("tidegate-{number}"))).unwrap()
    }

    #[tokio::test]
    async fn a_question_outlives_a_call_that_was_answered() {
        let questions = questions();
        let mut asking = Asking::new(Arc::clone(&questions));
        let pending = put(&mut asking).unwrap();
        asking.leave();
        drop(asking);
        let answer = RawJson::copy_of(r#"{"roots":[]}"#);
        questions.answer(&id(1), Answer::Result(answer.clone()));
        assert_eq!(pending.wait().await.unwrap(), answer);
    }

    #[tokio::test]
    async fn and_not_one_that_was_called_off() {
        let questions = questions();
        let mut asking = Asking::new(Arc::clone(&questions));
        let pending = put(&mut asking).unwrap();
        drop(asking);
        assert!(pending.wait().await.is_err());
    }

    #[tokio::test]
    async fn what_was_left_makes_room_and_what_is_waited_for_does_not() {
        let questions = questions();
        let mut left = Asking::new(Arc::clone(&questions));
        let oldest = put(&mut left).unwrap();
        let _others: Vec<_> = (1..MOST).map(|_| put(&mut left).unwrap()).collect();
        let mut asking = Asking::new(Arc::clone(&questions));
        assert!(put(&mut asking).is_none(), "all of them are waited for");
        left.leave();
        let _more: Vec<_> = (0..MOST).map(|_| put(&mut asking).unwrap()).collect();
        assert!(oldest.wait().await.is_err());
        assert!(put(&mut asking).is_none());
    }
}
