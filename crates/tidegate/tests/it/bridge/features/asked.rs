//! What all features have in common in which a server asks something.

use serde_json::{Value, json};

use super::super::cell::Cell;
use super::super::notes::{NO_ELICITATION, NO_PAGES, Note, OLDER_SERVER};
use super::super::peer::Went;
use super::Verdict;

pub(super) const ELICIT: &str = "elicitation/create";
pub(super) const SAMPLE: &str = "sampling/createMessage";

pub(super) fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "ada" } })
}

/// What the server was told, by its own keys.
#[track_caller]
pub(super) fn told(went: &Went) -> Value {
    serde_json::from_str(went.text()).unwrap()
}

/// Why a server cannot ask this client for a form, if it cannot.
pub(super) fn no_form(cell: &Cell<'_>) -> Option<&'static Note> {
    match () {
        () if !cell.client().knows("2025-06-18") => Some(&NO_ELICITATION),
        () if !cell.server().knows("2025-06-18") => Some(&OLDER_SERVER),
        () => None,
    }
}

/// Why a server cannot send this client's user to a page, if it cannot.
pub(super) fn no_page(cell: &Cell<'_>) -> Option<&'static Note> {
    match () {
        () if !cell.client().knows("2025-06-18") => Some(&NO_ELICITATION),
        () if !cell.client().knows("2025-11-25") => Some(&NO_PAGES),
        () if !cell.server().knows("2025-11-25") => Some(&OLDER_SERVER),
        () => None,
    }
}

/// Checks that the client is not asked, and that the call fails.
pub(super) async fn is_not_asked(cell: &mut Cell<'_>, tool: &str, why: &'static Note) -> Verdict {
    let arguments = cell.marked(json!({}));
    let went = cell.able().await.call(tool, arguments).await;
    assert!(went.failed(), "{went:?}");
    Verdict::CannotBeSaid(why)
}

/// Calls a tool with one question, and answers it; the server gets that answer under that key.
pub(super) async fn one(
    cell: &mut Cell<'_>,
    tool: &str,
    method: &str,
    key: &str,
    answer: Value,
) -> Went {
    let arguments = cell.marked(json!({}));
    let peer = cell.able().await;
    let went = peer
        .call_answering(tool, arguments, 1, |_| answer.clone())
        .await;
    assert_eq!(went.questions.len(), 1, "{went:?}");
    assert_eq!(went.questions[0]["method"], method);
    assert_eq!(told(&went), json!({ key: answer }), "{went:?}");
    went
}
