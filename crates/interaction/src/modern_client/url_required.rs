//! Calls that a legacy server fails because the user must visit a URL first. A modern client gets the
//! URLs as questions, and its continuation sends the call to the server again.

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    Code, Error, Event, EventStream, Operation, Outcome, QuestionKind, RawJson, Result,
};
use tidegate_mcp::revision::multi_round_trip::encode_input_required;
use tidegate_mcp::revision::tool_error_result;

use crate::answers::check_input_response;
use crate::capabilities::capability_error;

const URL_NOT_VISITED: &str =
    "the source requires the user to visit a URL first, and the user did not accept";

/// The result that asks the client to open the URLs.
pub(super) fn ask(
    elicitations: &[RawJson],
    capabilities: &RawJson,
    token: &str,
) -> Result<Outcome> {
    let error = |params| capability_error(capabilities, QuestionKind::Elicit, params);
    if elicitations.iter().any(|params| error(params).is_some()) {
        return Err(missing_capability());
    }
    let keys: Vec<_> = (1..=elicitations.len())
        .map(|number| format!("k{number}"))
        .collect();
    let questions = std::iter::zip(&keys, elicitations)
        .map(|(key, params)| (key.as_str(), QuestionKind::Elicit, params));
    let result = encode_input_required(questions, token);
    Ok(Outcome::InputRequired(result))
}

/// Handles the continuation. `None` if the call has to be sent to the server again, otherwise its last
/// events.
pub(super) fn resume(
    operation: &Operation,
    answers: &[(String, RawJson)],
) -> Result<Option<EventStream>> {
    for (key, answer) in answers {
        check_input_response(key, QuestionKind::Elicit, answer)?;
    }
    // Without answers the call is sent again: the server checks whether the user visited the URL.
    let accepted = answers.iter().all(|(_, answer)| {
        let action = answer.object().and_then(|answer| answer.string("action"));
        action.as_deref() == Some("accept")
    });
    Ok((!accepted).then(|| not_visited(operation)))
}

/// Ends a call whose user declined. For a tool call this is a result that the model can read.
fn not_visited(operation: &Operation) -> EventStream {
    let end = match operation {
        Operation::Tool { .. } => Ok(Event::Done(Outcome::complete(tool_error_result(
            URL_NOT_VISITED,
        )))),
        _ => Err(Error::client(Code::Declined, URL_NOT_VISITED)),
    };
    stream::iter([end]).boxed()
}

fn missing_capability() -> Error {
    let required = r#"{"requiredCapabilities":{"elicitation":{"url":{}}}}"#;
    Error::client(
        Code::MissingCapability,
        "the source requires the user to visit a URL first; this client did not declare `elicitation.url`",
    )
    .with_data(RawJson::copy_of(required))
}
