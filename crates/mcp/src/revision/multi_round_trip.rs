//! Multi round trips: questions in `input_required` results, and answers in continuations.

use serde_json::value::RawValue;
use tidegate_core::{Object, Outcome, QuestionKind, RawJson, Result};

use super::params::invalid_params;
use super::question::{question_kind, question_method};

/// Questions in one result.
const MAX_QUESTIONS: usize = 64;

/// Members of params that only a continuation has.
const CONTINUATION_MEMBERS: [&str; 2] = ["inputResponses", "requestState"];

/// Members of a question that only exist in sessions.
const SESSION_MEMBERS: [&str; 3] = ["_meta", "task", "elicitationId"];

/// The content of an `input_required` result.
#[derive(Debug)]
pub struct InputRequired {
    pub questions: Vec<KeyedQuestion>,
    /// The JSON that is returned to the source with the answers.
    pub request_state: Option<RawJson>,
}

/// A question of an `input_required` result.
#[derive(Debug)]
pub struct KeyedQuestion {
    /// The key that the answer must have.
    pub key: String,
    pub kind: QuestionKind,
    pub params: RawJson,
}

/// Parses an `input_required` result. `None` if it is malformed, asks for something unknown, or
/// asks for nothing.
pub fn parse_input_required(result: &RawJson) -> Option<InputRequired> {
    let members = result.object()?;
    let mut questions = Vec::new();
    if let Some(requests) = members.get("inputRequests") {
        for (key, question) in Object::parse(requests).ok()?.iter() {
            let question = Object::parse(question).ok()?;
            let kind = question_kind(&question.string("method")?)?;
            let params = question.get("params").unwrap_or("{}");
            questions.push(KeyedQuestion {
                key: key.to_owned(),
                kind,
                params: RawJson::copy_of(params),
            });
        }
    }
    let request_state = members.get("requestState").map(RawJson::copy_of);
    let is_empty = questions.is_empty() && request_state.is_none();
    (!is_empty && questions.len() <= MAX_QUESTIONS).then_some(InputRequired {
        questions,
        request_state,
    })
}

/// Encodes an `input_required` result.
pub fn encode_input_required<'a>(
    questions: impl IntoIterator<Item = (&'a str, QuestionKind, &'a RawJson)>,
    request_state: &str,
) -> RawJson {
    let mut result = input_requests(questions);
    let state = RawJson::string(request_state).as_str().to_owned();
    result.set("requestState", state);
    result.write()
}

/// The same outcome with the question of a built-in source encoded as an `input_required` result.
pub fn encode_outcome(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Question { key, kind, params } => {
            let result = input_requests([(key, kind, &params)]);
            Outcome::InputRequired(result.write())
        }
        outcome => outcome,
    }
}

fn input_requests<'a>(
    questions: impl IntoIterator<Item = (&'a str, QuestionKind, &'a RawJson)>,
) -> Object<'static> {
    let mut requests = Object::default();
    for (key, kind, params) in questions {
        requests.set(key, encode_question(kind, params));
    }
    let mut result = Object::default();
    result.set("inputRequests", requests.write().as_str().to_owned());
    result
}

fn encode_question(kind: QuestionKind, params: &RawJson) -> String {
    let mut params = params.object().unwrap_or_default();
    for member in SESSION_MEMBERS {
        params.remove(member);
    }
    let mut question = Object::default();
    question.set("method", format!("\"{}\"", question_method(kind).name()));
    question.set("params", params.write().as_str().to_owned());
    question.write().as_str().to_owned()
}

/// The members that a continuation adds to the original params.
#[derive(Debug, Default)]
pub struct ContinuationInput {
    pub request_state: Option<String>,
    /// Answers by the keys of their questions.
    pub answers: Vec<(String, RawJson)>,
}

/// Parses the members of a continuation; empty for a first request.
pub fn parse_continuation(params: &RawJson) -> Result<ContinuationInput> {
    let Some(members) = params.object() else {
        return Ok(ContinuationInput::default());
    };
    let request_state = match members.get("requestState") {
        None => None,
        Some(_) => Some(
            members
                .string("requestState")
                .ok_or_else(|| invalid_params("`requestState` must be a string"))?,
        ),
    };
    let answers = match members.get("inputResponses") {
        None => Vec::new(),
        Some(text) => parse_answers(text)?,
    };
    Ok(ContinuationInput {
        request_state,
        answers,
    })
}

fn parse_answers(text: &str) -> Result<Vec<(String, RawJson)>> {
    let malformed = || invalid_params("`inputResponses` must be an object of objects");
    let answers = Object::parse(text).map_err(|_| malformed())?;
    let answers = answers.iter().map(|(key, answer)| {
        let answer = serde_json::from_str::<&RawValue>(answer).map_err(|_| malformed())?;
        match answer.get().starts_with('{') {
            true => Ok((key.to_owned(), RawJson::copy_of(answer.get()))),
            false => Err(malformed()),
        }
    });
    answers.collect()
}

/// Whether these are the params of a continuation.
pub fn is_continuation(params: &Object<'_>) -> bool {
    CONTINUATION_MEMBERS
        .iter()
        .any(|member| params.get(member).is_some())
}

/// The params of the continuation of a request.
pub fn continuation_params(
    params: &RawJson,
    answers: &[(String, RawJson)],
    request_state: Option<&RawJson>,
) -> RawJson {
    let mut params = params.object().unwrap_or_default();
    for member in CONTINUATION_MEMBERS {
        params.remove(member);
    }
    if !answers.is_empty() {
        let mut responses = Object::default();
        for (key, answer) in answers {
            responses.set(key, answer.as_str());
        }
        params.set("inputResponses", responses.write().as_str().to_owned());
    }
    if let Some(state) = request_state {
        params.set("requestState", state.as_str());
    }
    params.write()
}

/// The params that a request and all its continuations have in common.
pub fn stable_params(params: &RawJson) -> RawJson {
    let mut params = params.object().unwrap_or_default();
    for member in ["_meta"].into_iter().chain(CONTINUATION_MEMBERS) {
        params.remove(member);
    }
    params.write()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn input_required_is_encoded_without_session_members_and_parsed() {
        let params = RawJson::from(json!({ "message": "m", "task": {}, "elicitationId": "e" }));
        let result = encode_input_required([("k1", QuestionKind::Elicit, &params)], "s");
        let parsed = parse_input_required(&result).unwrap();
        assert_eq!(parsed.request_state.unwrap().as_str(), "\"s\"");
        let [question] = &parsed.questions[..] else {
            panic!("{:?}", parsed.questions)
        };
        assert_eq!(question.key, "k1");
        assert_eq!(question.kind, QuestionKind::Elicit);
        assert_eq!(question.params.as_str(), r#"{"message":"m"}"#);
    }

    #[test]
    fn rejects_results_with_no_or_unknown_questions() {
        for result in [
            json!({}),
            json!({ "inputRequests": {} }),
            json!({ "inputRequests": { "k": { "method": "tools/call" } } }),
            json!({ "inputRequests": [] }),
        ] {
            let parsed = parse_input_required(&result.clone().into());
            assert!(parsed.is_none(), "{result}");
        }
        assert!(parse_input_required(&json!({ "requestState": "s" }).into()).is_some());
    }

    #[test]
    fn a_continuation_adds_answers_and_state_to_the_original_params() {
        let params = RawJson::parse(r#"{"name":"t","n":1.50,"_meta":{}}"#).unwrap();
        let answers = [("k".to_owned(), RawJson::from(json!({ "action": "accept" })))];
        let state = RawJson::string("s");
        let continued = continuation_params(&params, &answers, Some(&state));
        let input = parse_continuation(&continued).unwrap();
        assert_eq!(input.request_state.as_deref(), Some("s"));
        assert_eq!(input.answers, answers);
        assert_eq!(
            stable_params(&continued).as_str(),
            r#"{"name":"t","n":1.50}"#
        );
        assert_eq!(
            continuation_params(&continued, &[], None).as_str(),
            params.as_str()
        );
    }

    #[test]
    fn rejects_malformed_continuation_members() {
        for params in [
            json!({ "inputResponses": [] }),
            json!({ "inputResponses": { "k": 1 } }),
            json!({ "requestState": 1 }),
        ] {
            assert!(parse_continuation(&params.into()).is_err());
        }
    }
}
