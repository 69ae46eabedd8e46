//! Every kind of error, in both eras; and what no error may look like.

use serde_json::Value;
use tidegate_core::Code;
use tidegate_mcp::{Era, codes};

use super::{cases, no_gaps};
use crate::golden::Kind;
use crate::lower::Input;

#[test]
fn every_code_is_lowered_in_both_eras() {
    let cases = cases(Kind::Lower);
    let mut gaps = Vec::new();
    for code in codes::ALL {
        let kind = codes::of(code).kind;
        for era in [Era::Legacy, Era::Modern] {
            let is_covered = cases.iter().any(|(revision, case)| {
                let says = Input::read(&case.input).says.strip_prefix("error ");
                let is_it = says.is_some_and(|says| match code {
                    Code::Source(_) => says.starts_with("source "),
                    _ => says == kind,
                });
                is_it && revision.era() == era
            });
            if !is_covered {
                gaps.push(format!("{kind} in the {era:?} era"));
            }
        }
    }
    no_gaps(&gaps);
}

/// The newest revision defines three numbers of its band and forbids the rest; older ones keep
/// -32002. Whatever a golden file says, no message may break that.
#[test]
fn no_error_has_a_number_that_is_forbidden() {
    for (revision, case) in cases(Kind::Lower) {
        let Some(number) = number(&case.expected) else {
            continue;
        };
        let reserved = (-32099..=-32000).contains(&number);
        let defined = [-32020, -32021, -32022].contains(&number);
        if revision.era() == Era::Modern {
            assert!(!reserved || defined, "{revision}, {}: {number}", case.title);
        }
    }
}

fn number(outcome: &str) -> Option<i64> {
    let message: Value = serde_json::from_str(outcome.lines().nth(1)?).ok()?;
    message["error"]["code"].as_i64()
}
