//! The form of a Rust file: it starts with its purpose, is small, and has no unfinished work.
//!
//! Must not know: what the file is about.

use super::Problem;
use super::sources::Source;

const LONGEST: usize = 600;

/// Marks of unfinished work, in pieces so that this file does not carry them itself.
const MARKS: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
];

pub(super) fn check(file: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |line, what: String| problems.push(Problem::new(&file.path, line, what));
    if is_src(&file.path) {
        if !file.text.starts_with("//!") {
            let what = "does not start with `//!`; state its purpose and what it must not know";
            report(1, what.to_owned());
        }
        let length = file.lines().count();
        if length > LONGEST {
            report(
                LONGEST + 1,
                format!("has {length} lines, more than {LONGEST}; split it"),
            );
        }
    }
    for (line, text) in file.lines() {
        if let Some(mark) = MARKS.into_iter().find(|mark| is_bare(text, mark)) {
            report(
                line,
                format!("{mark} without a text; write `{mark}: what and when`, or do it"),
            );
        }
        if text.trim_start().starts_with("#[ignore") {
            report(line, "a test is ignored; fix it or delete it".to_owned());
        }
    }
    problems
}

/// Whether the rules for shipped code apply, not those for tests.
fn is_src(path: &str) -> bool {
    path.starts_with("xtask/src/")
        || path.starts_with("bench/src/")
        || path
            .strip_prefix("crates/")
            .and_then(|path| path.split_once('/'))
            .is_some_and(|(_, path)| path.starts_with("src/"))
}

/// Whether the mark occurs as a word without `: some text` after it.
fn is_bare(line: &str, mark: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(mark).any(|(at, _)| {
        let rest = &line[at + mark.len()..];
        if line[..at].ends_with(is_word) || rest.starts_with(is_word) {
            return false;
        }
        rest.strip_prefix(':')
            .is_none_or(|text| text.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&source(path, text))
            .into_iter()
            .map(|problem| problem.line)
            .collect()
    }

    #[test]
    fn a_file_starts_with_its_purpose() {
        assert_eq!(lines("crates/mcp/src/a.rs", "//! Why.\n"), []);
        assert_eq!(lines("crates/mcp/src/a.rs", "use std::fs;\n"), [1]);
        assert_eq!(lines("xtask/src/a.rs", "\n//! Why.\n"), [1]);
        assert_eq!(lines("crates/mcp/tests/a.rs", "use std::fs;\n"), []);
    }

    #[test]
    fn a_file_is_small() {
        let text = format!("//! Why.\n{}", "\n".repeat(LONGEST));
        assert_eq!(lines("crates/mcp/src/a.rs", &text), [LONGEST + 1]);
        assert_eq!(lines("crates/mcp/tests/a.rs", &text), []);
        assert_eq!(
            lines("crates/mcp/src/a.rs", text.trim_end_matches('\n')),
            []
        );
    }

    #[test]
    fn a_mark_needs_a_text() {
        for mark in MARKS {
            for bare in [
                format!("// {mark}"),
                format!("// {mark}: "),
                format!("{mark} fix"),
            ] {
                assert_eq!(lines("crates/mcp/tests/a.rs", &bare), [1], "{bare}");
            }
            for fine in [
                format!("// {mark}: when rustc can"),
                format!("MY_{mark}"),
                "todo".into(),
            ] {
                assert_eq!(lines("crates/mcp/tests/a.rs", &fine), [], "{fine}");
            }
        }
    }

    #[test]
    fn no_test_is_ignored() {
        assert_eq!(
            lines("crates/mcp/tests/a.rs", "#[test]\n  #[ignore = \"slow\"]\n"),
            [2]
        );
    }
}
