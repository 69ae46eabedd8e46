//! Protocol terms that may occur in one file each: revisions, methods, error codes.
//!
//! Must not know: what the terms mean.

use super::Problem;
use super::sources::Source;

const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

const METHODS: [&str; 24] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
    "notifications/",
];

pub(super) fn check(file: &Source) -> Vec<Problem> {
    if !file.is_product() {
        return Vec::new();
    }
    let revisions = file.path != "crates/mcp/src/revision.rs"
        && !file.path.starts_with("crates/mcp/src/revision/");
    let methods = file.path != "crates/mcp/src/revision/methods.rs";
    let codes = file.path != "crates/mcp/src/codes.rs";
    let mut problems = Vec::new();
    for (line, text) in file.product_lines() {
        let mut report = |what| problems.push(Problem::new(&file.path, line, what));
        if revisions && let Some(name) = revision(text) {
            report(format!(
                "names the revision {name}; ask crates/mcp/src/revision.rs instead"
            ));
        }
        // A comment may mention methods and codes.
        if text.trim_start().starts_with("//") {
            continue;
        }
        if methods && let Some(name) = method(text) {
            report(format!(
                "spells the method {name}; use crates/mcp/src/revision/methods.rs instead"
            ));
        }
        if codes && let Some(code) = code(text) {
            report(format!(
                "writes the code {code}; use its name in crates/mcp/src/codes.rs"
            ));
        }
    }
    problems
}

fn revision(line: &str) -> Option<&str> {
    let dated = REVISIONS.iter().find(|name| line.contains(**name)).copied();
    dated.or_else(|| words(line).find(|word| is_revision_name(word)))
}

/// Whether an identifier is like `V2030_01_31`.
fn is_revision_name(word: &str) -> bool {
    let shape = "V20dd_dd_dd";
    word.len() == shape.len()
        && word
            .chars()
            .zip(shape.chars())
            .all(|(found, wanted)| match wanted {
                'd' => found.is_ascii_digit(),
                _ => found == wanted,
            })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// A quoted method; for notifications the prefix is enough.
fn method(line: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|name| {
        line.match_indices(name).any(|(at, _)| {
            let rest = &line[at + name.len()..];
            line[..at].ends_with('"') && (name.ends_with('/') || rest.starts_with(['"', '\\']))
        })
    })
}

/// A number from -32999 to -31000, with or without underscores.
fn code(line: &str) -> Option<String> {
    line.match_indices('-').find_map(|(at, _)| {
        if line[..at].ends_with(|c: char| c.is_alphanumeric()) {
            return None;
        }
        let rest = &line[at + 1..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(rest.len());
        let digits = rest[..end].replace('_', "");
        let reserved = digits.starts_with("31") || digits.starts_with("32");
        (digits.len() == 5 && reserved).then(|| format!("-{digits}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::sources::tests::source;
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&source(path, text)).len()
    }

    const ELSEWHERE: &str = "crates/server/src/http.rs";

    #[test]
    fn finds_revisions_in_strings_names_and_comments() {
        for text in [
            "let v = \"2025-06-18\";",
            "Revision::V2026_07_28",
            "/// since 2026-07-28",
        ] {
            assert_eq!(count(ELSEWHERE, text), 1, "{text}");
            assert_eq!(count("crates/mcp/src/revision.rs", text), 0, "{text}");
            assert_eq!(count("crates/mcp/src/revision/lift.rs", text), 0, "{text}");
        }
        assert_eq!(count(ELSEWHERE, "V2026_07_281 V26_07_28 2026-07-29"), 0);
    }

    #[test]
    fn finds_quoted_methods() {
        for text in [
            "if m == \"tools/call\" {",
            "b\"ping\"",
            "\"{\\\"method\\\":\\\"initialize\\\"}\"",
            "\"notifications/cancelled\"",
        ] {
            assert_eq!(count(ELSEWHERE, text), 1, "{text}");
            assert_eq!(
                count("crates/mcp/src/revision/methods.rs", text),
                0,
                "{text}"
            );
        }
        for text in [
            "initialize();",
            "\"pinging\"",
            "// answers \"ping\"",
            "\"my-tools/call\"",
        ] {
            assert_eq!(count(ELSEWHERE, text), 0, "{text}");
        }
    }

    #[test]
    fn finds_codes_in_both_spellings() {
        for text in ["code: -32602,", "-32_602", "if code == -31429 {"] {
            assert_eq!(count(ELSEWHERE, text), 1, "{text}");
            assert_eq!(count("crates/mcp/src/codes.rs", text), 0, "{text}");
        }
        for text in [
            "-32",
            "-320000",
            "x-32602",
            "1-32000",
            "// -32602 is the client's fault",
        ] {
            assert_eq!(count(ELSEWHERE, text), 0, "{text}");
        }
    }

    #[test]
    fn tests_may_use_any_term() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    \"tools/call\"; -32602;\n}\n";
        assert_eq!(count(ELSEWHERE, text), 0);
        assert_eq!(count("crates/testkit/src/fake.rs", "\"tools/call\""), 0);
    }
}
