//! What the golden files must cover. A method, an error or a rule without a case fails here.

mod codes;
mod events;
mod headers;
mod methods;

use crate::golden::{Case, Kind, files};
use tidegate_mcp::Revision;

/// Every case of a kind, with the revision of its folder.
fn cases(kind: Kind) -> Vec<(Revision, Case)> {
    files(kind)
        .into_iter()
        .flat_map(|file| {
            file.cases
                .into_iter()
                .map(move |case| (file.revision, case))
        })
        .collect()
}

/// Fails with every gap at once.
fn no_gaps(gaps: &[String]) {
    assert!(gaps.is_empty(), "no golden case for:\n{}", gaps.join("\n"));
}

#[test]
fn titles_are_unique_in_a_file() {
    for kind in [Kind::Lift, Kind::Lower] {
        for file in files(kind) {
            let mut seen = std::collections::HashSet::new();
            for case in &file.cases {
                let path = file.path.display();
                assert!(seen.insert(&case.title), "{path}: `{}` twice", case.title);
            }
        }
    }
}
