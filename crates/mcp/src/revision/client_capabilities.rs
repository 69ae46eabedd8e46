//! The capabilities with which a client declares the questions it supports, per revision.

use tidegate_core::{Object, QuestionKind, RawJson};

use super::question::question_method;
use super::version::Revision;

/// The capability that a client declares to be asked questions of this kind.
pub fn capability_name(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Elicit => "elicitation",
        QuestionKind::Sample => "sampling",
        QuestionKind::Roots => "roots",
    }
}

/// The declared capabilities of a client, without capabilities that its revision does not have.
pub(super) fn restrict_to_revision(capabilities: RawJson, revision: Revision) -> RawJson {
    let mut members = capabilities.object().unwrap_or_default();
    let mut changed = false;
    for kind in [
        QuestionKind::Elicit,
        QuestionKind::Sample,
        QuestionKind::Roots,
    ] {
        if !question_method(kind).spec().exists_in(revision) {
            changed |= members.remove(capability_name(kind)).is_some();
        }
    }
    for (kind, mode) in [
        (QuestionKind::Elicit, "url"),
        (QuestionKind::Sample, "tools"),
    ] {
        let declared = members.get(capability_name(kind)).map(ToOwned::to_owned);
        let declared = declared
            .as_deref()
            .and_then(|declared| Object::parse(declared).ok());
        let Some(mut declared) = declared.filter(|_| revision < Revision::V2025_11_25) else {
            continue;
        };
        if declared.remove(mode).is_some() {
            let declared = declared.write().as_str().to_owned();
            members.set(capability_name(kind), declared);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_capabilities_that_the_revision_does_not_have() {
        let restrict = |revision, text: &str| {
            restrict_to_revision(RawJson::copy_of(text), revision)
                .as_str()
                .to_owned()
        };
        let all = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"x":1}"#;
        assert_eq!(restrict(Revision::V2025_11_25, all), all);
        assert_eq!(
            restrict(Revision::V2025_06_18, all),
            r#"{"elicitation":{"form":{}},"sampling":{},"x":1}"#
        );
        assert_eq!(
            restrict(Revision::V2025_03_26, all),
            r#"{"sampling":{},"x":1}"#
        );
    }
}
