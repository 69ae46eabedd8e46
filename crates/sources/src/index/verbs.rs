//! The verb of a tool, by which a model finds tools for an instruction.

use tidegate_core::{ElementFacts, List, SearchIndex};

/// Verbs that occur in the names and descriptions of tools.
const VERBS: &[&str] = &[
    "add",
    "analyze",
    "approve",
    "archive",
    "ask",
    "book",
    "build",
    "calculate",
    "call",
    "cancel",
    "check",
    "clear",
    "close",
    "commit",
    "compare",
    "complete",
    "configure",
    "convert",
    "copy",
    "count",
    "create",
    "delete",
    "deploy",
    "describe",
    "download",
    "draw",
    "edit",
    "enable",
    "execute",
    "explain",
    "export",
    "fetch",
    "filter",
    "find",
    "format",
    "generate",
    "get",
    "import",
    "insert",
    "install",
    "invite",
    "join",
    "launch",
    "list",
    "load",
    "lock",
    "log",
    "look",
    "make",
    "merge",
    "modify",
    "monitor",
    "move",
    "navigate",
    "open",
    "parse",
    "pause",
    "pay",
    "plan",
    "play",
    "post",
    "print",
    "publish",
    "pull",
    "push",
    "query",
    "read",
    "remember",
    "remove",
    "rename",
    "render",
    "replace",
    "reply",
    "report",
    "request",
    "reset",
    "resolve",
    "restart",
    "restore",
    "resume",
    "retrieve",
    "review",
    "run",
    "save",
    "scan",
    "schedule",
    "search",
    "select",
    "send",
    "set",
    "share",
    "show",
    "sign",
    "start",
    "stop",
    "store",
    "submit",
    "subscribe",
    "summarize",
    "sync",
    "take",
    "test",
    "track",
    "transform",
    "translate",
    "trigger",
    "undo",
    "unlock",
    "update",
    "upload",
    "validate",
    "verify",
    "view",
    "watch",
    "write",
];

/// The first known verb in the name of a tool, otherwise the first word of its description.
pub(super) fn verb(facts: &ElementFacts) -> Option<&'static str> {
    let in_name = facts.name_terms().find_map(|word| known_verb(&word));
    in_name.or_else(|| {
        facts
            .first_description_term()
            .and_then(|word| known_verb(&word))
    })
}

fn known_verb(word: &str) -> Option<&'static str> {
    VERBS.iter().find(|verb| **verb == word).copied()
}

/// Each verb with its tools; verbs with the most tools first.
pub(super) fn tools_by_verb(index: &SearchIndex) -> Vec<(&'static str, Vec<&str>)> {
    let mut verbs: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for element in index.list(List::Tools) {
        let Some(verb) = verb(&ElementFacts::of(element.list, element.definition)) else {
            continue;
        };
        match verbs.iter_mut().find(|(known, _)| *known == verb) {
            Some((_, tools)) => tools.push(element.name),
            None => verbs.push((verb, vec![element.name])),
        }
    }
    verbs.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    verbs
}
