//! Which questions a client can be asked, by the capabilities it declared.

use futures_util::StreamExt;
use tidegate_core::{
    Code, Declined, Error, ErrorOrigin, Event, EventStream, Object, Outcome, QuestionKind, RawJson,
};
use tidegate_mcp::codes;
use tidegate_mcp::revision::client_capabilities::capability_name;
use tidegate_mcp::revision::multi_round_trip::parse_input_required;
use tidegate_mcp::revision::question::is_url_elicitation;

const ALL_KINDS: [QuestionKind; 3] = [
    QuestionKind::Elicit,
    QuestionKind::Sample,
    QuestionKind::Roots,
];

/// Why a client with these capabilities cannot be asked this question; `None` if it can.
pub fn capability_error(
    capabilities: &RawJson,
    kind: QuestionKind,
    params: &RawJson,
) -> Option<Declined> {
    let capabilities = capabilities.object().unwrap_or_default();
    let declared = capabilities.get(capability_name(kind));
    let Some(declared) = declared.and_then(|declared| Object::parse(declared).ok()) else {
        let message = format!("this client did not declare `{}`", capability_name(kind));
        return Some(declined(Code::MethodNotFound, message));
    };
    let has = |mode: &str| declared.get(mode).is_some();
    let missing = match kind {
        QuestionKind::Elicit if is_url_elicitation(kind, params) => {
            (!has("url")).then_some("elicitation.url")
        }
        // An empty declaration means forms: they existed before URL mode.
        QuestionKind::Elicit => (has("url") && !has("form")).then_some("elicitation.form"),
        QuestionKind::Sample if offers_tools(params) => (!has("tools")).then_some("sampling.tools"),
        QuestionKind::Sample | QuestionKind::Roots => None,
    };
    missing.map(|missing| {
        let message = format!("this client did not declare `{missing}`");
        declined(Code::InvalidParams, message)
    })
}

/// Whether a client can be asked for its roots.
pub fn declares_roots(capabilities: &RawJson) -> bool {
    capability_error(capabilities, QuestionKind::Roots, &RawJson::empty_object()).is_none()
}

/// Whether a client declared that it can be asked anything.
pub fn accepts_questions(capabilities: &RawJson) -> bool {
    let declared = capabilities.object().unwrap_or_default();
    ALL_KINDS
        .into_iter()
        .any(|kind| declared.get(capability_name(kind)).is_some())
}

/// Fails calls whose `input_required` result asks for something the client did not declare.
pub(crate) fn reject_undeclared(events: EventStream, capabilities: &RawJson) -> EventStream {
    let capabilities = capabilities.clone();
    let events = events.map(move |event| match event {
        Ok(Event::Done(Outcome::InputRequired(result))) => {
            match undeclared(&result, &capabilities) {
                Some(error) => Err(error),
                None => Ok(Event::Done(Outcome::InputRequired(result))),
            }
        }
        event => event,
    });
    events.boxed()
}

fn undeclared(result: &RawJson, capabilities: &RawJson) -> Option<Error> {
    let questions = parse_input_required(result)?.questions;
    let declined = questions
        .iter()
        .find_map(|question| capability_error(capabilities, question.kind, &question.params))?;
    let message = format!(
        "the source asked a question that this client cannot answer: {}",
        declined.message
    );
    Some(Error::new(Code::SourceFailed, ErrorOrigin::Source, message))
}

fn declined(code: Code, message: String) -> Declined {
    Declined {
        code: Some(codes::of(code).legacy),
        message,
    }
}

fn offers_tools(params: &RawJson) -> bool {
    params.object().is_some_and(|params| {
        ["tools", "toolChoice"]
            .iter()
            .any(|member| params.get(member).is_some())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn asks_only_for_declared_capabilities() {
        for (capabilities, expected) in [
            (
                json!({ "elicitation": {}, "sampling": {}, "roots": {} }),
                [true, true, true],
            ),
            (json!({ "sampling": {} }), [false, true, false]),
            (json!({}), [false, false, false]),
        ] {
            let capabilities = capabilities.into();
            let params = RawJson::empty_object();
            let can_ask =
                ALL_KINDS.map(|kind| capability_error(&capabilities, kind, &params).is_none());
            assert_eq!(can_ask, expected, "{capabilities}");
            assert_eq!(accepts_questions(&capabilities), can_ask.contains(&true));
        }
    }

    /// Protocol 4.4: forms, URLs and tools only where the client declared them.
    #[test]
    fn asks_only_in_declared_modes() {
        let form = json!({ "message": "m" });
        let url = json!({ "mode": "url", "url": "https://example.com" });
        let plain = json!({ "messages": [] });
        let tools = json!({ "messages": [], "tools": [] });
        let (elicit, sample) = (QuestionKind::Elicit, QuestionKind::Sample);
        for (capabilities, kind, params, can_ask) in [
            (json!({ "elicitation": {} }), elicit, &form, true),
            (json!({ "elicitation": {} }), elicit, &url, false),
            (
                json!({ "elicitation": { "url": {} } }),
                elicit,
                &form,
                false,
            ),
            (json!({ "elicitation": { "url": {} } }), elicit, &url, true),
            (
                json!({ "elicitation": { "form": {}, "url": {} } }),
                elicit,
                &form,
                true,
            ),
            (json!({ "sampling": {} }), sample, &plain, true),
            (json!({ "sampling": {} }), sample, &tools, false),
            (json!({ "sampling": { "tools": {} } }), sample, &tools, true),
        ] {
            let error =
                capability_error(&capabilities.clone().into(), kind, &params.clone().into());
            assert_eq!(error.is_none(), can_ask, "{capabilities} {params}");
            assert!(error.is_none_or(|error| error.message.contains("this client")));
        }
    }
}
