//! Questions of a source to its client, on the wire of the eras that have sessions.

use tidegate_core::{Code, Declined, Object, QuestionKind, RawJson, random_bytes};

use super::Method;
use crate::{Answer, Rejection, RequestId, codes};

/// The answer of a user who does not want to answer.
pub fn cancelled() -> RawJson {
    RawJson::copy_of(r#"{"action":"cancel"}"#)
}

/// Whether a question sends the user elsewhere instead of asking for words.
pub fn is_url_elicitation(kind: QuestionKind, params: &RawJson) -> bool {
    let mode = params.object().and_then(|params| params.string("mode"));
    kind == QuestionKind::Elicit && mode.as_deref() == Some("url")
}

/// The name of what the user is sent to do elsewhere, where a question does that.
pub fn elicitation_id(kind: QuestionKind, params: &RawJson) -> Option<String> {
    let members = params
        .object()
        .filter(|_| is_url_elicitation(kind, params))?;
    members.string("elicitationId")
}

/// A name for what a user is sent to do elsewhere.
pub fn new_elicitation_id() -> String {
    let bytes: [u8; 16] = random_bytes();
    let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("tidegate-{}", hex.collect::<String>())
}

/// A question of a source without sessions as one in a session: what leads the user elsewhere has an
/// id there, which is given too.
pub fn for_stateful_client(kind: QuestionKind, params: &RawJson) -> (RawJson, Option<String>) {
    let Some(mut members) = params.object().filter(|_| is_url_elicitation(kind, params)) else {
        return (params.clone(), None);
    };
    let id = new_elicitation_id();
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

/// Tells the client that a question is not asked any more.
pub fn withdrawal(id: &str) -> String {
    let mut params = Object::default();
    params.set("requestId", RawJson::string(id).as_str().to_owned());
    params.set("reason", "\"the source does not ask this any more\"");
    let (name, params) = (Method::Cancelled.name(), params.write());
    format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{params}}}"#)
}

/// The answer to a request of a server that cannot be read, where its id can.
pub fn unreadable(text: &[u8], refused: &Rejection) -> Option<String> {
    let (Some(id), error) = refused else {
        return None;
    };
    let text = std::str::from_utf8(text).ok()?;
    Object::parse(text).ok()?.get("method")?;
    let declined = Declined {
        code: Some(codes::of(error.code()).legacy),
        message: error.message().to_owned(),
    };
    Some(response(id, Err(declined)))
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

/// What a client answered to a question. What cannot be an answer is none.
pub fn answered(kind: QuestionKind, answer: Answer) -> Result<RawJson, Declined> {
    match answer {
        Answer::Result(result) => match invalid_answer(kind, &result) {
            None => Ok(result),
            Some(wrong) => Err(Declined {
                code: Some(codes::of(Code::Internal).legacy),
                message: format!("the answer of the client is malformed: {wrong}"),
            }),
        },
        Answer::Error(error) => Err(Declined {
            code: Some(error.code),
            message: error.message,
        }),
    }
}

/// Why something cannot be the answer to a question; none if it can.
pub fn invalid_answer(kind: QuestionKind, answer: &RawJson) -> Option<&'static str> {
    let Some(members) = answer.object() else {
        return Some("it must be an object");
    };
    let begins = |member: &str, with: &[char]| {
        let text = members.get(member);
        text.is_some_and(|text| text.starts_with(with))
    };
    match kind {
        QuestionKind::Elicit => {
            let action = members.string("action");
            let is_known = matches!(action.as_deref(), Some("accept" | "decline" | "cancel"));
            match members.get("content") {
                _ if !is_known => Some("`action` must be `accept`, `decline` or `cancel`"),
                Some(_) if !begins("content", &['{', 'n']) => Some("`content` must be an object"),
                _ => None,
            }
        }
        QuestionKind::Sample if members.string("role").is_none() => Some("`role` must be a string"),
        QuestionKind::Sample if !begins("content", &['{', '[']) => {
            Some("`content` must be an object or an array")
        }
        QuestionKind::Roots if !begins("roots", &['[']) => Some("`roots` must be an array"),
        QuestionKind::Sample | QuestionKind::Roots => None,
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
        assert_eq!(
            response(&id, Ok(params)),
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

    #[test]
    fn what_cannot_be_an_answer_is_told() {
        let wrong = |kind, text: &str| invalid_answer(kind, &RawJson::copy_of(text)).is_some();
        for (kind, good, bad) in [
            (
                QuestionKind::Elicit,
                vec![
                    r#"{"action":"cancel"}"#,
                    r#"{"action":"accept","content":{"x":1}}"#,
                    r#"{"action":"decline","content":null}"#,
                ],
                vec![
                    "5",
                    r#"{"foo":1}"#,
                    r#"{"action":"yes"}"#,
                    r#"{"action":"accept","content":5}"#,
                ],
            ),
            (
                QuestionKind::Sample,
                vec![
                    r#"{"role":"assistant","content":{"type":"text","text":"t"}}"#,
                    r#"{"role":"assistant","content":[]}"#,
                ],
                vec![
                    "[]",
                    r#"{"content":{}}"#,
                    r#"{"role":"assistant","content":"t"}"#,
                ],
            ),
            (
                QuestionKind::Roots,
                vec![r#"{"roots":[]}"#],
                vec!["null", "{}", r#"{"roots":{}}"#],
            ),
        ] {
            for good in good {
                assert!(!wrong(kind, good), "{good}");
            }
            for bad in bad {
                assert!(wrong(kind, bad), "{bad}");
            }
        }
    }
}
