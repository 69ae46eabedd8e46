//! Questions of a source to its client, on the wire of the eras that have sessions.

use tidegate_core::{Code, Declined, Object, QuestionKind, RawJson, random_bytes};

use super::Method;
use crate::{Answer, RequestId, codes};

/// The answer of a user who does not want to answer.
pub fn cancelled() -> RawJson {
    RawJson::copy_of(r#"{"action":"cancel"}"#)
}

/// Whether a question sends the user elsewhere instead of asking for words.
pub fn leads_elsewhere(kind: QuestionKind, params: &RawJson) -> bool {
    let mode = params.object().and_then(|params| params.string("mode"));
    kind == QuestionKind::Elicit && mode.as_deref() == Some("url")
}

/// The name of what the user is sent to do elsewhere, where a question does that.
pub fn errand(kind: QuestionKind, params: &RawJson) -> Option<String> {
    let members = params.object().filter(|_| leads_elsewhere(kind, params))?;
    members.string("elicitationId")
}

/// A name for what a user is sent to do elsewhere.
pub fn fresh_errand() -> String {
    let bytes: [u8; 16] = random_bytes();
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("tidegate-{}", hex.collect::<String>())
}

/// A question of a source without sessions as one in a session: what leads the user elsewhere has an
/// id there, which is given too.
pub fn as_in_a_session(kind: QuestionKind, params: &RawJson) -> (RawJson, Option<String>) {
    let Some(mut members) = params.object().filter(|_| leads_elsewhere(kind, params)) else {
        return (params.clone(), None);
    };
    let id = fresh_errand();
    members.set("elicitationId", RawJson::string(&id).as_str().to_owned());
    (members.write(), Some(id))
}

/// A question as a request to the client.
pub fn question(id: &RequestId, kind: QuestionKind, params: &RawJson) -> String {
    let (id, name) = (id.as_str(), method(kind).name());
    match params.as_str() {
        "{}" => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{name}"}}"#),
        params => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{name}","params":{params}}}"#),
    }
}

/// Which question a server's request is.
pub fn question_kind(name: &str) -> Option<QuestionKind> {
    let kinds = [
        QuestionKind::Elicit,
        QuestionKind::Sample,
        QuestionKind::Roots,
    ];
    kinds.into_iter().find(|kind| method(*kind).name() == name)
}

/// What a client answered.
pub fn answered(answer: Answer) -> Result<RawJson, Declined> {
    match answer {
        Answer::Result(result) => Ok(result),
        Answer::Error(error) => Err(Declined {
            code: Some(error.code),
            message: error.message,
        }),
    }
}

/// The answer, as the response to the server that asked.
pub fn response(id: &RequestId, answer: Result<RawJson, Declined>) -> String {
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

pub(super) fn method(kind: QuestionKind) -> Method {
    match kind {
        QuestionKind::Elicit => Method::Elicit,
        QuestionKind::Sample => Method::Sample,
        QuestionKind::Roots => Method::Roots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [QuestionKind; 3] = [
        QuestionKind::Elicit,
        QuestionKind::Sample,
        QuestionKind::Roots,
    ];

    #[test]
    fn a_question_and_its_answer_keep_their_text() {
        let id = RequestId::new(RawJson::string("q-1")).unwrap();
        let params = RawJson::parse(r#"{"n":95.50,"x":[ ]}"#).unwrap();
        assert_eq!(
            question(&id, QuestionKind::Elicit, &params),
            r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{"n":95.50,"x":[ ]}}"#
        );
        for kind in ALL {
            assert_eq!(question_kind(method(kind).name()), Some(kind));
        }
        let answer = answered(Answer::Result(params));
        assert_eq!(
            response(&id, answer),
            r#"{"jsonrpc":"2.0","id":"q-1","result":{"n":95.50,"x":[ ]}}"#
        );
        let declined = Declined {
            code: Some(-1),
            message: "no \"way\"".to_owned(),
        };
        assert_eq!(
            response(&id, Err(declined)),
            r#"{"jsonrpc":"2.0","id":"q-1","error":{"code":-1,"message":"no \"way\""}}"#
        );
    }
}
