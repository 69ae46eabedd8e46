//! Everything the core can say, in every revision; and what every answer of an era has in common.

use serde_json::Value;
use tidegate_mcp::{Era, Revision};

use super::{cases, no_gaps};
use crate::golden::Kind;
use crate::lower::Input;

/// How the line `says:` of a case begins, for each thing the core can say.
const SAYINGS: [&str; 14] = [
    "complete",
    "complete 60000 ms",
    "input required",
    "task",
    "alive",
    "progress",
    "log ",
    "acknowledged",
    "change tools",
    "change prompts",
    "change resources",
    "change file:",
    "error ",
    "refusal ",
];

/// The results that say how long they may be kept.
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

#[test]
fn everything_the_core_says_is_lowered_in_every_revision() {
    let cases = cases(Kind::Lower);
    let mut gaps = Vec::new();
    for revision in Revision::ALL {
        for saying in SAYINGS {
            let is_covered = cases.iter().any(|(folder, case)| {
                *folder == revision && Input::read(&case.input).says.starts_with(saying)
            });
            if !is_covered {
                gaps.push(format!("`{saying}` in {revision}"));
            }
        }
    }
    no_gaps(&gaps);
}

#[test]
fn every_answer_has_the_members_of_its_era_and_no_others() {
    for (revision, case) in cases(Kind::Lower) {
        let Some(result) = result(&case.expected) else {
            continue;
        };
        let modern = revision.era() == Era::Modern;
        let method = Input::read(&case.input).method;
        let complete = result["resultType"] == "complete";
        let kept = modern && complete && CACHEABLE.contains(&method);
        let about = format!("{revision}, {}", case.title);
        assert_eq!(result.get("resultType").is_some(), modern, "{about}");
        // A task is kept for a while too, which is another matter.
        let ttl = result.get("taskId").is_none() && result["ttlMs"].is_u64();
        assert_eq!(ttl, kept, "{about}");
        assert_eq!(result["cacheScope"].is_string(), kept, "{about}");
        assert_eq!(
            result["_meta"].get(SERVER_INFO).is_some(),
            modern,
            "{about}"
        );
    }
}

fn result(outcome: &str) -> Option<Value> {
    let answer = outcome.strip_prefix("answer\n")?;
    let mut answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
    Some(answer["result"].take())
}
