//! Every method in every revision: lifted and lowered where it is in force, refused where it is not.

use serde_json::Value;
use tidegate_mcp::Revision;
use tidegate_mcp::revision::Method;
use tidegate_mcp::revision::methods::Kind as Sort;

use super::{cases, no_gaps};
use crate::golden::{Case, Kind};
use crate::lift::body;
use crate::lower::Input;

#[test]
fn every_method_is_lifted_or_refused_in_every_revision() {
    let cases = cases(Kind::Lift);
    let mut gaps = Vec::new();
    for (method, revision) in pairs() {
        let is_covered = cases.iter().any(|(folder, case)| {
            *folder == revision && sends(method, case) && shows(method, revision, case)
        });
        let is_ours = matches!(
            method.row().kind,
            Sort::Notice | Sort::Question | Sort::Errand
        );
        if !is_covered && !is_ours {
            gaps.push(format!("lift {} in {revision}", method.name()));
        }
    }
    no_gaps(&gaps);
}

#[test]
fn every_request_in_force_has_an_answer() {
    let cases = cases(Kind::Lower);
    let mut gaps = Vec::new();
    let requests = pairs().filter(|(method, _)| method.row().kind == Sort::Request);
    for (method, revision) in requests.filter(|(method, revision)| in_force(*method, *revision)) {
        let is_covered = cases.iter().any(|(folder, case)| {
            let input = Input::read(&case.input);
            *folder == revision && input.method == method.name() && input.says == "complete"
        });
        if !is_covered {
            gaps.push(format!("lower {} in {revision}", method.name()));
        }
    }
    no_gaps(&gaps);
}

/// What we may send exists in the revision it is sent in, and all of it is sent somewhere.
#[test]
fn every_notice_in_force_is_sent_and_no_other() {
    let sent: Vec<_> = cases(Kind::Lower)
        .into_iter()
        .filter_map(|(revision, case)| {
            let notice = case.expected.strip_prefix("notice\n")?;
            let notice: Value = serde_json::from_str(notice).expect("a notice is JSON");
            Some((revision, notice["method"].as_str()?.to_owned()))
        })
        .collect();
    let mut gaps = Vec::new();
    for (method, revision) in pairs().filter(|(method, _)| method.row().kind == Sort::Notice) {
        let is_sent = sent.contains(&(revision, method.name().to_owned()));
        if is_sent != in_force(method, revision) {
            gaps.push(format!("sent: {is_sent}, {} in {revision}", method.name()));
        }
    }
    no_gaps(&gaps);
}

fn pairs() -> impl Iterator<Item = (Method, Revision)> {
    Method::ALL
        .iter()
        .flat_map(|method| Revision::ALL.map(|revision| (*method, revision)))
}

fn in_force(method: Method, revision: Revision) -> bool {
    let row = method.row();
    row.since <= revision && revision <= row.until
}

/// Whether the case's message is this method, in the form that wants an answer or in the other.
fn sends(method: Method, case: &Case) -> bool {
    let Ok(message) = serde_json::from_str::<Value>(body(&case.input)) else {
        return false;
    };
    let wants_answer = message.get("id").is_some();
    message["method"] == method.name() && wants_answer == (method.row().kind == Sort::Request)
}

/// Whether the outcome is the one that the table of methods asks for.
fn shows(method: Method, revision: Revision, case: &Case) -> bool {
    let outcome = &case.expected;
    let refused = outcome.contains("\nrefused: ");
    match (method.row().kind, in_force(method, revision)) {
        (Sort::Request, true) => !refused && outcome.contains(revision.as_str()),
        (Sort::Request, false) => {
            let message = format!("there is no method `{}` in {revision}", method.name());
            outcome.contains("\nrefused: method_not_found, -32601, ") && outcome.contains(&message)
        }
        (_, true) => !refused,
        (_, false) => outcome.ends_with("\nnoted"),
    }
}
