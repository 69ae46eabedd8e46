//! Questions of a server to its client, as requests of the legacy era.

use tidegate_core::{Code, Declined, Object, QuestionKind, RawJson};

use super::methods::Method;
use crate::codes;
use crate::message::Rejection;
use crate::request_id::RequestId;

/// Encodes a question as a request to the client.
pub fn encode_question(id: &RequestId, kind: QuestionKind, params: &RawJson) -> String {
    let (id, method) = (id.as_str(), question_method(kind).name());
    match params.as_str() {
        "{}" => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
        params => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
    }
}

/// Encodes the notification that the question with this string id is cancelled.
pub fn encode_cancellation(id: &str) -> String {
    let mut params = Object::default();
    params.set("requestId", RawJson::string(id).as_str().to_owned());
    params.set("reason", "\"the server cancelled this request\"");
    let (method, params) = (Method::Cancelled.name(), params.write());
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Encodes an answer as the response to the server that asked.
pub fn encode_answer(id: &RequestId, answer: Result<RawJson, Declined>) -> String {
    let id = id.as_str();
    match answer {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(declined) => {
            let code = declined
                .code
                .unwrap_or_else(|| codes::of(Code::MethodNotFound).legacy);
            let mut error = Object::default();
            error.set("code", code.to_string());
            error.set(
                "message",
                RawJson::string(&declined.message).as_str().to_owned(),
            );
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.write())
        }
    }
}

/// The error response to a server's request that could not be decoded. `None` if it has no id, or
/// is not a request.
pub fn encode_rejection(text: &[u8], rejection: &Rejection) -> Option<String> {
    let (Some(id), error) = rejection else {
        return None;
    };
    let text = std::str::from_utf8(text).ok()?;
    Object::parse(text).ok()?.get("method")?;
    let declined = Declined {
        code: Some(codes::of(error.code()).legacy),
        message: error.message().to_owned(),
    };
    Some(encode_answer(id, Err(declined)))
}

/// The answer of a user who dismisses an elicitation.
pub fn cancelled_elicitation() -> RawJson {
    RawJson::copy_of(r#"{"action":"cancel"}"#)
}

/// The answer of a client without roots.
pub fn no_roots() -> RawJson {
    RawJson::copy_of(r#"{"roots":[]}"#)
}

/// Whether a question is an elicitation in URL mode.
pub fn is_url_elicitation(kind: QuestionKind, params: &RawJson) -> bool {
    let mode = params.object().and_then(|params| params.string("mode"));
    kind == QuestionKind::Elicit && mode.as_deref() == Some("url")
}

/// The id of an elicitation in URL mode.
pub fn elicitation_id(kind: QuestionKind, params: &RawJson) -> Option<String> {
    let members = params
        .object()
        .filter(|_| is_url_elicitation(kind, params))?;
    members.string("elicitationId")
}

/// The params of an elicitation with this id.
pub fn with_elicitation_id(params: &RawJson, id: &str) -> RawJson {
    let mut members = params.object().unwrap_or_default();
    members.set("elicitationId", RawJson::string(id).as_str().to_owned());
    members.write()
}

/// The kind of question that a server's method is; `None` for other methods.
pub fn question_kind(method: &str) -> Option<QuestionKind> {
    let kinds = [
        QuestionKind::Elicit,
        QuestionKind::Sample,
        QuestionKind::Roots,
    ];
    kinds
        .into_iter()
        .find(|kind| question_method(*kind).name() == method)
}

pub(super) fn question_method(kind: QuestionKind) -> Method {
    match kind {
        QuestionKind::Elicit => Method::Elicit,
        QuestionKind::Sample => Method::Sample,
        QuestionKind::Roots => Method::Roots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_keeps_the_text_of_params_and_results() {
        let id = RequestId::new(RawJson::string("q-1")).unwrap();
        let params = RawJson::parse(r#"{"n":95.50,"x":[ ]}"#).unwrap();
        assert_eq!(
            encode_question(&id, QuestionKind::Elicit, &params),
            r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{"n":95.50,"x":[ ]}}"#
        );
        for kind in [
            QuestionKind::Elicit,
            QuestionKind::Sample,
            QuestionKind::Roots,
        ] {
            assert_eq!(question_kind(question_method(kind).name()), Some(kind));
        }
        assert_eq!(
            encode_answer(&id, Ok(params)),
            r#"{"jsonrpc":"2.0","id":"q-1","result":{"n":95.50,"x":[ ]}}"#
        );
        let declined = Declined {
            code: Some(-1),
            message: "no \"way\"".to_owned(),
        };
        assert_eq!(
            encode_answer(&id, Err(declined)),
            r#"{"jsonrpc":"2.0","id":"q-1","error":{"code":-1,"message":"no \"way\""}}"#
        );
    }
}
