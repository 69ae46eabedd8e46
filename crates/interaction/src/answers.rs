//! Validates the answers of clients to questions.

use tidegate_core::{Code, Declined, Error, QuestionKind, RawJson, truncate_for_message};
use tidegate_mcp::{ResponseBody, codes};

/// Checks that this JSON can be the answer to a question of this kind; the error names what is
/// wrong with it.
pub fn validate(kind: QuestionKind, answer: &RawJson) -> Result<(), &'static str> {
    let members = answer.object().ok_or("it must be an object")?;
    let starts_with = |member: &str, first: &[char]| {
        let text = members.get(member);
        text.is_some_and(|text| text.starts_with(first))
    };
    match kind {
        QuestionKind::Elicit => {
            let action = members.string("action");
            if !matches!(action.as_deref(), Some("accept" | "decline" | "cancel")) {
                return Err("`action` must be `accept`, `decline` or `cancel`");
            }
            let has_content = members.get("content").is_some();
            match has_content && !starts_with("content", &['{', 'n']) {
                true => Err("`content` must be an object"),
                false => Ok(()),
            }
        }
        QuestionKind::Sample if members.string("role").is_none() => Err("`role` must be a string"),
        QuestionKind::Sample if !starts_with("content", &['{', '[']) => {
            Err("`content` must be an object or an array")
        }
        QuestionKind::Roots if !starts_with("roots", &['[']) => Err("`roots` must be an array"),
        QuestionKind::Sample | QuestionKind::Roots => Ok(()),
    }
}

/// Checks the answer under `key` of a continuation's `inputResponses`.
pub(crate) fn check_input_response(
    key: &str,
    kind: QuestionKind,
    answer: &RawJson,
) -> Result<(), Error> {
    validate(kind, answer).map_err(|reason| {
        let key = truncate_for_message(key);
        let message = format!("`inputResponses`: answer `{key}` is malformed: {reason}");
        Error::client(Code::InvalidParams, message)
    })
}

/// The answer in a client's response to a question. A malformed answer is declined.
pub(crate) fn from_response(
    kind: QuestionKind,
    response: ResponseBody,
) -> Result<RawJson, Declined> {
    match response {
        ResponseBody::Result(answer) => match validate(kind, &answer) {
            Ok(()) => Ok(answer),
            Err(reason) => Err(Declined {
                code: Some(codes::of(Code::Internal).legacy),
                message: format!("the client sent a malformed answer: {reason}"),
            }),
        },
        ResponseBody::Error(error) => Err(Declined {
            code: Some(error.code),
            message: error.message,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_malformed_answers() {
        for (kind, valid, malformed) in [
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
            for text in valid {
                assert_eq!(validate(kind, &RawJson::copy_of(text)), Ok(()), "{text}");
            }
            for text in malformed {
                assert!(validate(kind, &RawJson::copy_of(text)).is_err(), "{text}");
            }
        }
    }
}
