//! Every error code needs a case in both eras; no case may use a forbidden number.

use serde_json::Value;
use tidegate_core::Code;
use tidegate_mcp::{Era, codes};

use super::{assert_no_gaps, cases};
use crate::golden::GoldenKind;
use crate::lower::LowerInput;

#[test]
fn every_code_has_a_case_in_both_eras() {
    let cases = cases(GoldenKind::Lower);
    let mut gaps = Vec::new();
    for code in codes::ALL {
        let kind = codes::of(code).kind;
        for era in [Era::Legacy, Era::Modern] {
            let is_covered = cases.iter().any(|(revision, case)| {
                let error = LowerInput::parse(&case.input).event.strip_prefix("error ");
                let is_code = error.is_some_and(|error| match code {
                    Code::Source(_) => error.starts_with("source "),
                    _ => error == kind,
                });
                is_code && revision.era() == era
            });
            if !is_covered {
                gaps.push(format!("{kind} in the {era:?} era"));
            }
        }
    }
    assert_no_gaps(&gaps);
}

/// 2026-07-28 defines three numbers of the reserved range and forbids the others; older revisions
/// keep -32002.
#[test]
fn no_error_has_a_forbidden_number() {
    for (revision, case) in cases(GoldenKind::Lower) {
        let Some(number) = error_number(&case.expected) else {
            continue;
        };
        let is_reserved = (-32099..=-32000).contains(&number);
        let is_defined = [-32020, -32021, -32022].contains(&number);
        if revision.era() == Era::Modern {
            assert!(
                !is_reserved || is_defined,
                "{revision}, {}: {number}",
                case.title
            );
        }
    }
}

fn error_number(output: &str) -> Option<i64> {
    let message: Value = serde_json::from_str(output.lines().nth(1)?).ok()?;
    message["error"]["code"].as_i64()
}
