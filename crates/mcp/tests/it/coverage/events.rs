//! Every event of the core needs a case in every revision; all results of an era have the same
//! required members.

use serde_json::Value;
use tidegate_mcp::{Era, Revision};

use super::{assert_no_gaps, cases};
use crate::golden::GoldenKind;
use crate::lower::LowerInput;

/// How the line `event:` begins for each event of the core.
const EVENTS: [&str; 14] = [
    "complete",
    "complete 60000 ms",
    "input-required",
    "task",
    "keep-alive",
    "progress",
    "log ",
    "acknowledged",
    "change tools",
    "change prompts",
    "change resources",
    "change file:",
    "error ",
    "error-without-id ",
];

/// The methods whose results have a cache lifetime.
const CACHEABLE: [&str; 8] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "skills/list",
    "skills/get",
];

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

#[test]
fn every_event_has_a_case_in_every_revision() {
    let cases = cases(GoldenKind::Lower);
    let mut gaps = Vec::new();
    for revision in Revision::ALL {
        for event in EVENTS {
            let is_covered = cases.iter().any(|(folder, case)| {
                *folder == revision && LowerInput::parse(&case.input).event.starts_with(event)
            });
            if !is_covered {
                gaps.push(format!("`{event}` in {revision}"));
            }
        }
    }
    assert_no_gaps(&gaps);
}

#[test]
fn every_result_has_exactly_the_members_of_its_era() {
    for (revision, case) in cases(GoldenKind::Lower) {
        let Some(result) = result(&case.expected) else {
            continue;
        };
        let is_modern = revision.era() == Era::Modern;
        let method = LowerInput::parse(&case.input).method;
        let is_complete = result["resultType"] == "complete";
        let is_cacheable = is_modern && is_complete && CACHEABLE.contains(&method);
        let case = format!("{revision}, {}", case.title);
        assert_eq!(result.get("resultType").is_some(), is_modern, "{case}");
        // `ttlMs` of a task is the lifetime of the task, not of the result.
        let has_ttl = result.get("taskId").is_none() && result["ttlMs"].is_u64();
        assert_eq!(has_ttl, is_cacheable, "{case}");
        assert_eq!(result["cacheScope"].is_string(), is_cacheable, "{case}");
        assert_eq!(
            result["_meta"].get(SERVER_INFO).is_some(),
            is_modern,
            "{case}"
        );
    }
}

fn result(output: &str) -> Option<Value> {
    let response = output.strip_prefix("response\n")?;
    let mut response: Value = serde_json::from_str(response).expect("not JSON");
    Some(response["result"].take())
}
