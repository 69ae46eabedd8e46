//! Every method needs cases in every revision: lifted and lowered where it exists, rejected where it
//! does not.

use serde_json::Value;
use tidegate_mcp::Revision;
use tidegate_mcp::revision::{Method, MethodKind};

use super::{assert_no_gaps, cases};
use crate::golden::{GoldenCase, GoldenKind};
use crate::lift::body;
use crate::lower::LowerInput;

#[test]
fn every_method_has_a_lift_case_in_every_revision() {
    let cases = cases(GoldenKind::Lift);
    let mut gaps = Vec::new();
    for (method, revision) in pairs() {
        let is_covered = cases.iter().any(|(folder, case)| {
            *folder == revision && sends(method, case) && is_expected(method, revision, case)
        });
        let is_sent_by_us = matches!(
            method.spec().kind,
            MethodKind::ServerNotification
                | MethodKind::Question
                | MethodKind::UpstreamRequest
                | MethodKind::Extension
        );
        if !is_covered && !is_sent_by_us {
            gaps.push(format!("lift {} in {revision}", method.name()));
        }
    }
    assert_no_gaps(&gaps);
}

#[test]
fn every_request_has_a_result_case_where_it_exists() {
    let cases = cases(GoldenKind::Lower);
    let mut gaps = Vec::new();
    let requests = pairs().filter(|(method, _)| method.spec().kind == MethodKind::ClientRequest);
    for (method, revision) in
        requests.filter(|(method, revision)| method.spec().exists_in(*revision))
    {
        let is_covered = cases.iter().any(|(folder, case)| {
            let input = LowerInput::parse(&case.input);
            *folder == revision && input.method == method.name() && input.event == "complete"
        });
        if !is_covered {
            gaps.push(format!("lower {} in {revision}", method.name()));
        }
    }
    assert_no_gaps(&gaps);
}

/// Every notification of ours is sent in the revisions that have it and in no other.
#[test]
fn notifications_are_sent_exactly_where_they_exist() {
    let sent: Vec<_> = cases(GoldenKind::Lower)
        .into_iter()
        .filter_map(|(revision, case)| {
            let message = case.expected.strip_prefix("notification\n")?;
            let message: Value = serde_json::from_str(message).expect("not JSON");
            Some((revision, message["method"].as_str()?.to_owned()))
        })
        .collect();
    let mut gaps = Vec::new();
    for (method, revision) in
        pairs().filter(|(method, _)| method.spec().kind == MethodKind::ServerNotification)
    {
        let is_sent = sent.contains(&(revision, method.name().to_owned()));
        if is_sent != method.spec().exists_in(revision) {
            gaps.push(format!("sent: {is_sent}, {} in {revision}", method.name()));
        }
    }
    assert_no_gaps(&gaps);
}

fn pairs() -> impl Iterator<Item = (Method, Revision)> {
    Method::ALL
        .iter()
        .flat_map(|method| Revision::ALL.map(|revision| (*method, revision)))
}

/// Whether the message of a case has this method and is a request or a notification like it.
fn sends(method: Method, case: &GoldenCase) -> bool {
    let Ok(message) = serde_json::from_str::<Value>(body(&case.input)) else {
        return false;
    };
    let is_request = message.get("id").is_some();
    message["method"] == method.name()
        && is_request == (method.spec().kind == MethodKind::ClientRequest)
}

/// Whether the output is right by the table of methods.
fn is_expected(method: Method, revision: Revision, case: &GoldenCase) -> bool {
    let output = &case.expected;
    let is_rejected = output.contains("\nrejected: ");
    match (method.spec().kind, method.spec().exists_in(revision)) {
        (MethodKind::ClientRequest, true) => !is_rejected && output.contains(revision.as_str()),
        (MethodKind::ClientRequest, false) => {
            let message = format!("method `{}` does not exist in {revision}", method.name());
            output.contains("\nrejected: method_not_found, -32601, ") && output.contains(&message)
        }
        (_, true) => !is_rejected,
        (_, false) => output.ends_with("\nignored"),
    }
}
