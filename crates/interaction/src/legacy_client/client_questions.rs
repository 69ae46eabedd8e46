//! The questions that the client of one session has been asked and has not answered yet.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{Declined, Error, Question, QuestionKind, RawJson};
use tidegate_mcp::revision::question::{elicitation_id, encode_cancellation, encode_question};
use tidegate_mcp::revision::url_elicitation::url_elicitations;
use tidegate_mcp::{RequestId, ResponseBody};

use crate::answers;
use crate::capabilities::capability_error;

/// Open questions, and remembered URL elicitations, per client.
const MAX_OPEN_QUESTIONS: usize = 64;

/// The open questions of one client, by the request ids they were sent with.
pub struct ClientQuestions {
    capabilities: RawJson,
    open: Mutex<QuestionTable>,
}

#[derive(Default)]
struct QuestionTable {
    last_id: u64,
    by_id: HashMap<String, Question>,
    /// Ids of questions whose call has ended, oldest first.
    detached: VecDeque<String>,
    /// Ids of the URL elicitations that the client was sent, oldest first.
    url_elicitations: VecDeque<String>,
}

impl QuestionTable {
    /// Whether there is room for one more question. Detached questions are dropped to make room.
    fn has_room(&mut self) -> bool {
        while self.by_id.len() >= MAX_OPEN_QUESTIONS
            && let Some(id) = self.detached.pop_front()
        {
            self.by_id.remove(&id);
        }
        self.by_id.len() < MAX_OPEN_QUESTIONS
    }

    fn remember_url_elicitation(&mut self, elicitation_id: String) {
        if self.url_elicitations.len() == MAX_OPEN_QUESTIONS {
            self.url_elicitations.pop_front();
        }
        self.url_elicitations.push_back(elicitation_id);
    }
}

impl ClientQuestions {
    pub fn new(capabilities: RawJson) -> Arc<Self> {
        Arc::new(Self {
            capabilities,
            open: Mutex::default(),
        })
    }

    /// Hands a client's response to the question it answers. A response to an unknown id is
    /// ignored.
    pub fn answer(&self, id: &RequestId, response: ResponseBody) {
        let question = self.lock().by_id.remove(&id.key());
        if let Some(question) = question {
            let answer = answers::from_response(question.kind, response);
            question.answer(answer);
        }
    }

    /// Whether this client was sent this URL elicitation; if so, forgets it. A completion is
    /// announced only to the client that was asked, and only once.
    pub fn complete_url_elicitation(&self, elicitation_id: &str) -> bool {
        let pending = &mut self.lock().url_elicitations;
        let position = pending.iter().position(|id| id == elicitation_id);
        position
            .and_then(|position| pending.remove(position))
            .is_some()
    }

    /// Opens a question: its id and the request to send. `None` if the client cannot be asked; the
    /// question has then been declined.
    fn open(&self, question: Question) -> Option<(String, String)> {
        if let Some(error) = capability_error(&self.capabilities, question.kind, &question.params) {
            question.answer(Err(error));
            return None;
        }
        let mut open = self.lock();
        if !open.has_room() {
            question.answer(Err(limit_reached()));
            return None;
        }
        open.last_id += 1;
        let id = RequestId::new(RawJson::string(&format!("tidegate-{}", open.last_id)))?;
        let request = encode_question(&id, question.kind, &question.params);
        if let Some(elicitation_id) = elicitation_id(question.kind, &question.params) {
            open.remember_url_elicitation(elicitation_id);
        }
        let id = id.key();
        open.by_id.insert(id.clone(), question);
        Some((id, request))
    }

    fn lock(&self) -> MutexGuard<'_, QuestionTable> {
        self.open.lock()
    }
}

fn limit_reached() -> Declined {
    Declined {
        code: None,
        message: format!("this client already has {MAX_OPEN_QUESTIONS} unanswered questions"),
    }
}

/// The questions of one call. Dropping it, which cancels the call, declines them.
pub struct CallQuestions {
    client: Arc<ClientQuestions>,
    open: Vec<String>,
}

impl CallQuestions {
    pub fn new(client: Arc<ClientQuestions>) -> Self {
        Self {
            client,
            open: Vec::new(),
        }
    }

    /// Asks the client a question: the request to send. `None` if the client cannot be asked; the
    /// question has then been declined.
    pub fn ask(&mut self, question: Question) -> Option<String> {
        let (id, request) = self.client.open(question)?;
        self.open.push(id);
        Some(request)
    }

    /// Closes a question that its server has withdrawn: the cancellation to send.
    pub fn close_withdrawn(&mut self) -> Option<String> {
        let mut open = self.client.lock();
        let is_withdrawn = |id: &String| open.by_id.get(id).is_some_and(Question::is_withdrawn);
        let position = self.open.iter().position(is_withdrawn)?;
        let id = self.open.remove(position);
        open.by_id.remove(&id);
        // The key of a string id starts with a quote, and all our ids are strings.
        Some(encode_cancellation(id.trim_start_matches('"')))
    }

    /// Withdraws the open questions of a call that has failed: the cancellations to send. Roots stay
    /// open, because they are not about one call.
    pub fn withdraw_all(&mut self) -> Vec<String> {
        let mut open = self.client.lock();
        let is_about_call = |id: &String| {
            let question = open.by_id.get(id);
            question.is_some_and(|question| question.kind != QuestionKind::Roots)
        };
        let withdrawn: Vec<_> = self.open.extract_if(.., |id| is_about_call(id)).collect();
        withdrawn
            .iter()
            .inspect(|id| drop(open.by_id.remove(*id)))
            .map(|id| encode_cancellation(id.trim_start_matches('"')))
            .collect()
    }

    /// Remembers the URL elicitations in an error, so that the client is notified when they
    /// complete.
    pub fn note_url_elicitations(&self, error: &Error) {
        for params in url_elicitations(error).into_iter().flatten() {
            if let Some(elicitation_id) = elicitation_id(QuestionKind::Elicit, &params) {
                self.client.lock().remember_url_elicitation(elicitation_id);
            }
        }
    }

    /// Keeps the questions open after the call has ended: a server that asks for roots right after
    /// the handshake may respond to its first call before it has them.
    pub fn detach(&mut self) {
        let mut open = self.client.lock();
        open.detached.extend(self.open.drain(..));
        let QuestionTable {
            by_id, detached, ..
        } = &mut *open;
        detached.retain(|id| by_id.contains_key(id));
    }
}

impl Drop for CallQuestions {
    fn drop(&mut self) {
        let mut open = self.client.lock();
        for id in &self.open {
            open.by_id.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::PendingAnswer;

    use super::*;

    fn client() -> Arc<ClientQuestions> {
        let capabilities = serde_json::json!({ "roots": {} });
        ClientQuestions::new(capabilities.into())
    }

    fn ask(call: &mut CallQuestions) -> Option<PendingAnswer> {
        let (question, pending) = Question::new(QuestionKind::Roots, RawJson::empty_object());
        call.ask(question).map(|_| pending)
    }

    fn id(number: usize) -> RequestId {
        RequestId::new(RawJson::string(&format!("tidegate-{number}"))).unwrap()
    }

    #[tokio::test]
    async fn questions_stay_open_after_the_call_was_answered() {
        let client = client();
        let mut call = CallQuestions::new(Arc::clone(&client));
        let pending = ask(&mut call).unwrap();
        call.detach();
        drop(call);
        let answer = RawJson::copy_of(r#"{"roots":[]}"#);
        client.answer(&id(1), ResponseBody::Result(answer.clone()));
        assert_eq!(pending.wait().await.unwrap(), answer);
    }

    #[tokio::test]
    async fn questions_are_declined_when_the_call_is_cancelled() {
        let client = client();
        let mut call = CallQuestions::new(Arc::clone(&client));
        let pending = ask(&mut call).unwrap();
        drop(call);
        assert!(pending.wait().await.is_err());
    }

    #[tokio::test]
    async fn only_detached_questions_make_room_for_new_ones() {
        let client = client();
        let mut first = CallQuestions::new(Arc::clone(&client));
        let oldest = ask(&mut first).unwrap();
        let _others: Vec<_> = (1..MAX_OPEN_QUESTIONS)
            .map(|_| ask(&mut first).unwrap())
            .collect();
        let mut second = CallQuestions::new(Arc::clone(&client));
        assert!(ask(&mut second).is_none(), "no question is detached yet");
        first.detach();
        let _more: Vec<_> = (0..MAX_OPEN_QUESTIONS)
            .map(|_| ask(&mut second).unwrap())
            .collect();
        assert!(oldest.wait().await.is_err());
        assert!(ask(&mut second).is_none());
    }

    #[test]
    fn a_completion_is_announced_once_and_only_to_the_client_that_was_asked() {
        let capabilities = serde_json::json!({ "elicitation": { "url": {} } });
        let asked = ClientQuestions::new(capabilities.clone().into());
        let other = ClientQuestions::new(capabilities.into());
        let params = serde_json::json!({ "mode": "url", "elicitationId": "e1" });
        let (question, _pending) = Question::new(QuestionKind::Elicit, params.into());
        assert!(
            CallQuestions::new(Arc::clone(&asked))
                .ask(question)
                .is_some()
        );
        assert!(!other.complete_url_elicitation("e1"));
        assert!(asked.complete_url_elicitation("e1"));
        assert!(!asked.complete_url_elicitation("e1"));
    }
}
