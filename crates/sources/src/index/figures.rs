//! How the texts of the index name things.

use tidegate_core::List;

/// The four kinds, as URIs and texts have them.
pub(super) const KINDS: [(&str, &str, List); 4] = [
    ("tools", "tool", List::Tools),
    ("prompts", "prompt", List::Prompts),
    ("resources", "resource", List::Resources),
    ("templates", "template", List::Templates),
];

/// A kind by its name, in the singular too.
pub(super) fn kind(name: &str) -> Option<List> {
    let of_name = |(many, one, _): &&(&str, &str, List)| *many == name || *one == name;
    KINDS.iter().find(of_name).map(|(_, _, list)| *list)
}

/// The word for one of a kind.
pub(super) fn one(list: List) -> &'static str {
    KINDS[list as usize].1
}

/// The word for many of a kind.
pub(super) fn many(list: List) -> &'static str {
    KINDS[list as usize].0
}

/// Text on one line, without what Markdown would take for a table.
pub(super) fn inline(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace('|', "\\|")
}
