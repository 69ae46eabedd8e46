//! What a client without a session brings: whether it can be an answer at all, and what it means where
//! the user was to go elsewhere first.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    Code, Error, Event, EventStream, Operation, Outcome, QuestionKind, RawJson, Result,
};
use tidegate_mcp::revision::failed_result;
use tidegate_mcp::revision::question::invalid_answer;

use super::invalid;

const NOT_DONE: &str = "the source cannot go on before the user has done what it asks for";

/// Refuses what cannot be the answer to a question of this kind.
pub(super) fn check(key: &str, kind: QuestionKind, answer: &RawJson) -> Result<()> {
    match invalid_answer(kind, answer) {
        None => Ok(()),
        Some(wrong) => Err(invalid(&format!(
            "`inputResponses`: the answer `{}` is malformed: {wrong}",
            tidegate_core::truncate_for_message(key)
        ))),
    }
}

/// What has become of a user who was sent to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// It went there; or the client does not say, and the server will.
    Went,
    Declined,
}

pub(super) fn sent_elsewhere(answers: &[(String, RawJson)]) -> Result<Elsewhere> {
    for (key, answer) in answers {
        check(key, QuestionKind::Elicit, answer)?;
    }
    let accepts = |answer: &RawJson| {
        let action = answer.object().and_then(|answer| answer.string("action"));
        action.as_deref() == Some("accept")
    };
    Ok(match answers.iter().all(|(_, answer)| accepts(answer)) {
        true => Elsewhere::Went,
        false => Elsewhere::Declined,
    })
}

/// The end of a call whose user does not want to go there. Of a tool that is for the model to know.
pub(super) fn declined(ask: &Operation) -> EventStream {
    let end = match ask {
        Operation::Tool { .. } => Ok(Event::Done(Outcome::complete(failed_result(NOT_DONE)))),
        _ => Err(Error::client(Code::Declined, NOT_DONE)),
    };
    stream::iter([end]).boxed()
}
