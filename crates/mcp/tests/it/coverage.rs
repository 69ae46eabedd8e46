//! The coverage of the golden files: every method, error and rule needs a case.

mod codes;
mod events;
mod headers;
mod methods;

use crate::golden::{GoldenCase, GoldenKind, files};
use tidegate_mcp::Revision;

/// All cases of a kind, with the revision of their folder.
fn cases(kind: GoldenKind) -> Vec<(Revision, GoldenCase)> {
    files(kind)
        .into_iter()
        .flat_map(|file| {
            file.cases
                .into_iter()
                .map(move |case| (file.revision, case))
        })
        .collect()
}

/// Fails with a list of all gaps.
fn assert_no_gaps(gaps: &[String]) {
    assert!(gaps.is_empty(), "no golden case for:\n{}", gaps.join("\n"));
}

#[test]
fn titles_are_unique_in_a_file() {
    for kind in [GoldenKind::Lift, GoldenKind::Lower] {
        for file in files(kind) {
            let mut titles = std::collections::HashSet::new();
            for case in &file.cases {
                let path = file.path.display();
                assert!(
                    titles.insert(&case.title),
                    "{path}: duplicate title `{}`",
                    case.title
                );
            }
        }
    }
}
