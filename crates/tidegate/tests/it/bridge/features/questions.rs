//! Helpers of the features in which a server asks a question.

use serde_json::{Value, json};

use super::super::cell::Cell;
use super::super::client_session::CallOutcome;
use super::super::notes::{NO_ELICITATION, NO_URL_MODE, Note, OLDER_SERVER};
use super::Verdict;

pub(super) const ELICIT: &str = "elicitation/create";
pub(super) const SAMPLE: &str = "sampling/createMessage";

pub(super) fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "ada" } })
}

/// The answers that the server got, by key.
#[track_caller]
pub(super) fn answers(outcome: &CallOutcome) -> Value {
    serde_json::from_str(outcome.text()).unwrap()
}

/// Why this client cannot be asked for a form, if so.
pub(super) fn no_form(cell: &Cell<'_>) -> Option<&'static Note> {
    match () {
        () if !cell.client().has_revision("2025-06-18") => Some(&NO_ELICITATION),
        () if !cell.server().has_revision("2025-06-18") => Some(&OLDER_SERVER),
        () => None,
    }
}

/// Why this client cannot get a URL elicitation, if so.
pub(super) fn no_url_mode(cell: &Cell<'_>) -> Option<&'static Note> {
    match () {
        () if !cell.client().has_revision("2025-06-18") => Some(&NO_ELICITATION),
        () if !cell.client().has_revision("2025-11-25") => Some(&NO_URL_MODE),
        () if !cell.server().has_revision("2025-11-25") => Some(&OLDER_SERVER),
        () => None,
    }
}

/// Checks that the client is not asked and that the call fails.
pub(super) async fn check_not_asked(
    cell: &mut Cell<'_>,
    tool: &str,
    why: &'static Note,
) -> Verdict {
    let arguments = cell.marked(json!({}));
    let outcome = cell.with_capabilities().await.call(tool, arguments).await;
    assert!(outcome.failed(), "{outcome:?}");
    Verdict::Unsupported(why)
}

/// Calls a tool that asks one question, and answers it; checks that the server got the answer.
pub(super) async fn answer_one_question(
    cell: &mut Cell<'_>,
    tool: &str,
    method: &str,
    key: &str,
    answer: Value,
) -> CallOutcome {
    let arguments = cell.marked(json!({}));
    let peer = cell.with_capabilities().await;
    let outcome = peer
        .call_answering(tool, arguments, 1, |_| answer.clone())
        .await;
    assert_eq!(outcome.questions.len(), 1, "{outcome:?}");
    assert_eq!(outcome.questions[0]["method"], method);
    assert_eq!(answers(&outcome), json!({ key: answer }), "{outcome:?}");
    outcome
}
