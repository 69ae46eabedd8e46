//! The names of the four kinds of elements in URIs and texts.

use tidegate_core::List;

/// Plural, singular and list of each kind, in the order of [`List`].
pub(super) const KINDS: [(&str, &str, List); 4] = [
    ("tools", "tool", List::Tools),
    ("prompts", "prompt", List::Prompts),
    ("resources", "resource", List::Resources),
    ("templates", "template", List::Templates),
];

/// The kind with this plural or singular name.
pub(super) fn parse_kind(name: &str) -> Option<List> {
    let kind = KINDS
        .iter()
        .find(|(plural, singular, _)| *plural == name || *singular == name);
    kind.map(|(_, _, list)| *list)
}

pub(super) fn singular(list: List) -> &'static str {
    KINDS[list as usize].1
}

pub(super) fn plural(list: List) -> &'static str {
    KINDS[list as usize].0
}
