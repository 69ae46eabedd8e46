//! Questions in the results of the modern era, and the answers in the requests that follow: a call
//! that goes in rounds.

use serde_json::value::RawValue;
use tidegate_core::{Code, Error, Object, Outcome, QuestionKind, RawJson, Result};

use super::question::{method, question_kind};

/// More questions than anyone answers at once.
const MOST_QUESTIONS: usize = 64;

/// What changes from round to round; the rest of a request stays.
const OF_THE_ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What only sessions know: it has no place in a question without one.
const OF_SESSIONS: [&str; 3] = ["_meta", "task", "elicitationId"];

/// A result that asks.
#[derive(Debug)]
pub struct Round {
    /// Each by the key that its answer must carry.
    pub questions: Vec<(String, QuestionKind, RawJson)>,
    /// What the source wants back, as JSON.
    pub state: Option<RawJson>,
}

/// Reads a result that asks; none if it asks what cannot be asked.
pub fn round(result: &RawJson) -> Option<Round> {
    let members = result.object()?;
    let mut questions = Vec::new();
    if let Some(asked) = members.get("inputRequests") {
        for (key, question) in Object::parse(asked).ok()?.iter() {
            let question = Object::parse(question).ok()?;
            let kind = question_kind(&question.string("method")?)?;
            let params = question.get("params").unwrap_or("{}");
            questions.push((key.to_owned(), kind, RawJson::copy_of(params)));
        }
    }
    let state = members.get("requestState").map(RawJson::copy_of);
    let asks = !questions.is_empty() || state.is_some();
    (asks && questions.len() <= MOST_QUESTIONS).then_some(Round { questions, state })
}

/// One question of a result that asks.
fn question(kind: QuestionKind, params: &RawJson) -> String {
    let mut params = params.object().unwrap_or_default();
    for member in OF_SESSIONS {
        params.remove(member);
    }
    let mut question = Object::default();
    question.set("method", format!("\"{}\"", method(kind).name()));
    question.set("params", params.write().as_str().to_owned());
    question.write().as_str().to_owned()
}

/// Writes a result that asks.
pub fn input_required<'a>(
    questions: impl IntoIterator<Item = (&'a str, QuestionKind, &'a RawJson)>,
    state: &str,
) -> RawJson {
    let mut asked = Object::default();
    for (key, kind, params) in questions {
        asked.set(key, question(kind, params));
    }
    let mut result = Object::default();
    result.set("inputRequests", asked.write().as_str().to_owned());
    result.set("requestState", RawJson::string(state).as_str().to_owned());
    result.write()
}

/// An outcome in the words of the wire: a question of a source of our own as a result that asks.
pub fn worded(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Question { key, kind, params } => {
            let mut asked = Object::default();
            asked.set(key, question(kind, &params));
            let mut result = Object::default();
            result.set("inputRequests", asked.write().as_str().to_owned());
            Outcome::InputRequired(result.write())
        }
        other => other,
    }
}

/// What a request brings back from the round before.
#[derive(Debug, Default)]
pub struct RoundInput {
    pub state: Option<String>,
    pub answers: Vec<(String, RawJson)>,
}

/// Reads what a request brings back.
pub fn round_input(params: &RawJson) -> Result<RoundInput> {
    let Some(members) = params.object() else {
        return Ok(RoundInput::default());
    };
    let state = match members.get("requestState") {
        None => None,
        Some(_) => Some(
            members
                .string("requestState")
                .ok_or_else(|| invalid("`requestState` must be a string"))?,
        ),
    };
    let answers = match members.get("inputResponses") {
        None => Vec::new(),
        Some(text) => answers(text)?,
    };
    Ok(RoundInput { state, answers })
}

fn answers(text: &str) -> Result<Vec<(String, RawJson)>> {
    let wrong = || invalid("`inputResponses` must be an object of objects");
    let answers = Object::parse(text).map_err(|_| wrong())?;
    let each = answers.iter().map(|(key, answer)| {
        let answer = serde_json::from_str::<&RawValue>(answer).map_err(|_| wrong())?;
        match answer.get().starts_with('{') {
            true => Ok((key.to_owned(), RawJson::copy_of(answer.get()))),
            false => Err(wrong()),
        }
    });
    each.collect()
}

/// Whether a request goes on with an earlier one.
pub fn is_continuation(params: &Object<'_>) -> bool {
    OF_THE_ROUND[1..]
        .iter()
        .any(|member| params.get(member).is_some())
}

/// The params for the next round: the same, with these answers and this state.
pub fn next_round(
    params: &RawJson,
    answers: &[(String, RawJson)],
    state: Option<&RawJson>,
) -> RawJson {
    let mut params = params.object().unwrap_or_default();
    for member in &OF_THE_ROUND[1..] {
        params.remove(member);
    }
    if !answers.is_empty() {
        let mut all = Object::default();
        for (key, answer) in answers {
            all.set(key, answer.as_str());
        }
        params.set("inputResponses", all.write().as_str().to_owned());
    }
    if let Some(state) = state {
        params.set("requestState", state.as_str());
    }
    params.write()
}

/// What of the params is the same in every round.
pub fn stable_params(params: &RawJson) -> RawJson {
    let mut params = params.object().unwrap_or_default();
    for member in OF_THE_ROUND {
        params.remove(member);
    }
    params.write()
}

fn invalid(message: &str) -> Error {
    Error::client(Code::InvalidParams, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_round_is_read_and_written() {
        let params = RawJson::from(json!({ "message": "m", "task": {}, "elicitationId": "e" }));
        let asked = input_required([("k1", QuestionKind::Elicit, &params)], "s");
        let round = round(&asked).unwrap();
        assert_eq!(round.state.unwrap().as_str(), "\"s\"");
        let [(key, kind, params)] = &round.questions[..] else {
            panic!("{:?}", round.questions)
        };
        assert_eq!((key.as_str(), *kind), ("k1", QuestionKind::Elicit));
        assert_eq!(params.as_str(), r#"{"message":"m"}"#);
    }

    #[test]
    fn what_does_not_ask_or_asks_otherwise_is_no_round() {
        for result in [
            json!({}),
            json!({ "inputRequests": {} }),
            json!({ "inputRequests": { "k": { "method": "tools/call" } } }),
            json!({ "inputRequests": [] }),
        ] {
            assert!(round(&result.clone().into()).is_none(), "{result}");
        }
        assert!(round(&json!({ "requestState": "s" }).into()).is_some());
    }

    #[test]
    fn answers_go_in_and_come_out() {
        let params = RawJson::parse(r#"{"name":"t","n":1.50,"_meta":{}}"#).unwrap();
        let answers = [("k".to_owned(), RawJson::from(json!({ "action": "accept" })))];
        let state = RawJson::string("s");
        let next = next_round(&params, &answers, Some(&state));
        let brought = round_input(&next).unwrap();
        assert_eq!(brought.state.as_deref(), Some("s"));
        assert_eq!(brought.answers, answers);
        assert_eq!(stable_params(&next).as_str(), r#"{"name":"t","n":1.50}"#);
        assert_eq!(next_round(&next, &[], None).as_str(), params.as_str());
    }

    #[test]
    fn malformed_answers_are_told() {
        for params in [
            json!({ "inputResponses": [] }),
            json!({ "inputResponses": { "k": 1 } }),
            json!({ "requestState": 1 }),
        ] {
            assert!(round_input(&params.into()).is_err());
        }
    }
}
