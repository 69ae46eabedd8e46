//! What a client says it can be asked, and what its revision makes of that. Decided here for every way
//! that a question can take.

use tidegate_core::{Code, Declined, Object, QuestionKind, RawJson};

use super::Revision;
use super::question::{is_url_elicitation, method};
use crate::codes;

const ALL: [QuestionKind; 3] = [
    QuestionKind::Elicit,
    QuestionKind::Sample,
    QuestionKind::Roots,
];

/// Why a client cannot be asked this, by what it declared; none if it can.
pub fn capability_error(
    capabilities: &RawJson,
    kind: QuestionKind,
    params: &RawJson,
) -> Option<Declined> {
    let all = capabilities.object().unwrap_or_default();
    let declared = all.get(capability(kind));
    let Some(declared) = declared.and_then(|one| Object::parse(one).ok()) else {
        return Some(refused(Code::MethodNotFound, lacks(kind)));
    };
    let has = |part: &str| declared.get(part).is_some();
    let lacks = match kind {
        // Forms were there first: who names neither of the two can show them.
        QuestionKind::Elicit if is_url_elicitation(kind, params) => {
            (!has("url")).then_some("this client cannot send its user to a page")
        }
        QuestionKind::Elicit => (has("url") && !has("form"))
            .then_some("this client cannot be asked with a form, it can only be sent to a page"),
        QuestionKind::Sample if gives_tools(params) => {
            (!has("tools")).then_some("the model of this client cannot be given tools")
        }
        QuestionKind::Sample | QuestionKind::Roots => None,
    };
    lacks.map(|lacks| refused(Code::InvalidParams, lacks))
}

fn lacks(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Elicit => "this client cannot be asked for anything of its user",
        QuestionKind::Sample => "this client cannot be asked for anything of its model",
        QuestionKind::Roots => "this client cannot be asked for its folders",
    }
}

fn refused(code: Code, message: &str) -> Declined {
    Declined {
        code: Some(codes::of(code).legacy),
        message: message.to_owned(),
    }
}

fn gives_tools(params: &RawJson) -> bool {
    let members = params.object();
    members.is_some_and(|members| {
        ["tools", "toolChoice"]
            .iter()
            .any(|one| members.get(one).is_some())
    })
}

/// What a client with a session can do, without what its revision does not have.
pub(super) fn known_to(revision: Revision, capabilities: RawJson) -> RawJson {
    let mut members = capabilities.object().unwrap_or_default();
    let mut changed = false;
    for kind in ALL {
        let row = method(kind).row();
        if !(row.since <= revision && revision <= row.until) {
            changed |= members.remove(capability(kind)).is_some();
        }
    }
    for (kind, part) in [
        (QuestionKind::Elicit, "url"),
        (QuestionKind::Sample, "tools"),
    ] {
        let declared = members.get(capability(kind)).map(ToOwned::to_owned);
        let declared = declared.as_deref().and_then(|one| Object::parse(one).ok());
        let Some(mut declared) = declared.filter(|_| revision < Revision::V2025_11_25) else {
            continue;
        };
        if declared.remove(part).is_some() {
            let rest = declared.write().as_str().to_owned();
            members.set(capability(kind), rest);
            changed = true;
        }
    }
    match changed {
        true => members.write(),
        false => {
            drop(members);
            capabilities
        }
    }
}

/// Whether a client can be asked anything at all.
pub fn accepts_questions(capabilities: &RawJson) -> bool {
    let all = capabilities.object();
    ALL.into_iter().any(|kind| {
        all.as_ref()
            .is_some_and(|all| all.get(capability(kind)).is_some())
    })
}

/// Whether a client says which folders it works in.
pub fn declares_roots(capabilities: &RawJson) -> bool {
    capability_error(capabilities, QuestionKind::Roots, &RawJson::empty_object()).is_none()
}

fn capability(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Elicit => "elicitation",
        QuestionKind::Sample => "sampling",
        QuestionKind::Roots => "roots",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_is_asked_what_it_declared_and_its_revision_has() {
        let all = RawJson::from(json!({ "elicitation": {}, "sampling": {}, "roots": {} }));
        let some = RawJson::from(json!({ "sampling": {} }));
        let asked = |revision, capabilities: &RawJson| {
            let capabilities = known_to(revision, capabilities.clone());
            let params = RawJson::empty_object();
            ALL.map(|kind| capability_error(&capabilities, kind, &params).is_none())
        };
        assert_eq!(asked(Revision::V2025_11_25, &all), [true, true, true]);
        assert_eq!(asked(Revision::V2025_03_26, &all), [false, true, true]);
        assert_eq!(asked(Revision::V2025_11_25, &some), [false, true, false]);
        assert!(accepts_questions(&some));
        assert!(!accepts_questions(&RawJson::empty_object()));
    }

    /// Protocol 4.4: of forms, pages and tools only what was declared.
    #[test]
    fn a_client_is_not_asked_in_a_way_that_it_did_not_declare() {
        let form = json!({ "message": "m" });
        let page = json!({ "mode": "url", "url": "https://example.com" });
        let plain = json!({ "messages": [] });
        let tools = json!({ "messages": [], "tools": [] });
        let (elicit, sample) = (QuestionKind::Elicit, QuestionKind::Sample);
        for (capabilities, kind, params, can) in [
            (json!({ "elicitation": {} }), elicit, &form, true),
            (json!({ "elicitation": {} }), elicit, &page, false),
            (
                json!({ "elicitation": { "url": {} } }),
                elicit,
                &form,
                false,
            ),
            (json!({ "elicitation": { "url": {} } }), elicit, &page, true),
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
            let why = capability_error(&capabilities.clone().into(), kind, &params.clone().into());
            assert_eq!(why.is_none(), can, "{capabilities} {params}");
            assert!(why.is_none_or(|why| why.message.contains("this client")));
        }
    }

    #[test]
    fn a_session_cannot_do_what_its_revision_does_not_have() {
        let known = |revision, text: &str| {
            known_to(revision, RawJson::copy_of(text))
                .as_str()
                .to_owned()
        };
        let all = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"x":1}"#;
        assert_eq!(known(Revision::V2025_11_25, all), all);
        assert_eq!(
            known(Revision::V2025_06_18, all),
            r#"{"elicitation":{"form":{}},"sampling":{},"x":1}"#
        );
        assert_eq!(
            known(Revision::V2025_03_26, all),
            r#"{"sampling":{},"x":1}"#
        );
    }
}
