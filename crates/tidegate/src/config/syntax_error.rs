//! Syntax errors of the file, as plain sentences with a fix. The parser's own messages use the
//! terms of the YAML grammar.

use super::position::Position;

/// Parts of the parser's messages, and what they mean for the author of the file.
const EXPLANATIONS: &[(&str, &str)] = &[
    ("tab", "tabs cannot be used for indentation; use spaces"),
    (
        "unclosed bracket '['",
        "the list `[` is not closed; add `]`",
    ),
    (
        "unclosed bracket '{'",
        "the mapping `{` is not closed; add `}`",
    ),
    (
        "mismatched bracket",
        "the closing bracket does not match the opening one; close `[` with `]` and `{` with `}`",
    ),
    (
        "unclosed quote",
        "the text in quotes is not closed; add the closing quote",
    ),
    (
        "multiline quoted scalar",
        "the text in quotes is not closed; add the closing quote",
    ),
    (
        "trailing content after",
        "unexpected text after the closing quote; put all of the value in the quotes",
    ),
    (
        "single YAML document expected",
        "the file contains several YAML documents; remove the line `---`",
    ),
    (
        "unknown value",
        "`*` refers to an anchor that the file does not define; write a text that starts with `*` \
         in quotes",
    ),
    (
        "unknown anchor",
        "`*` refers to an anchor that the file does not define; write a text that starts with `*` \
         in quotes",
    ),
    (
        "flow mapping",
        "expected `,` or `}`; inside `{ }`, write text that contains `{`, `}` or `,` in quotes",
    ),
    (
        "flow sequence",
        "expected `,` or `]`; inside `[ ]`, write text that contains `[`, `]` or `,` in quotes",
    ),
    (
        "mapping values are not allowed",
        "unexpected `:`; write a value that contains `: ` in quotes, or check the indentation",
    ),
    (
        "':' indicator",
        "unexpected `:`; write a value that contains `: ` in quotes",
    ),
    (
        "simple key",
        "expected `key: value`; check that the key has a `:` and the indentation is right",
    ),
    (
        "did not find expected key",
        "expected `key: value`; check that the line is indented like the others of its mapping",
    ),
    (
        "'-' indicator",
        "expected `- item`; check that the line is indented like the other items of its list",
    ),
    (
        "sequence entries are not allowed",
        "unexpected `-`; put the list on its own lines, below its key",
    ),
    (
        "indentation",
        "the indentation does not match the lines above",
    ),
    (
        "unknown escape",
        "unknown escape sequence; inside double quotes, write `\\\\` for a backslash, or use single \
         quotes",
    ),
    (
        "unexpected character",
        "a value cannot start with this character; write the value in quotes",
    ),
];

/// The sentence for an error of the parser at this position of the file.
pub(super) fn explain(parser_message: &str, text: &str, position: Option<Position>) -> String {
    let known = EXPLANATIONS
        .iter()
        .find(|(part, _)| parser_message.contains(part));
    let message = match known {
        Some((_, explanation)) => (*explanation).to_owned(),
        None => format!(
            "not valid YAML: {}",
            without_position(parser_message, position)
        ),
    };
    format!("{message}{}", quoting_hint(text, position))
}

/// Removes the position from the end of the parser's message; ours begins with it.
fn without_position(message: &str, position: Option<Position>) -> &str {
    let suffix = position.map(|at| format!(" at line {}, column {}", at.line, at.column));
    suffix
        .and_then(|suffix| message.strip_suffix(&suffix))
        .unwrap_or(message)
}

/// An unquoted `${…}` inside `{ }` is a syntax error, because its braces delimit a mapping.
fn quoting_hint(text: &str, position: Option<Position>) -> &'static str {
    let line = position.and_then(|position| {
        let index = usize::try_from(position.line).ok()?.checked_sub(1)?;
        text.lines().nth(index)
    });
    match line.is_some_and(|line| line.contains("${")) {
        true => "; write references in quotes: \"${env:NAME}\"",
        false => "",
    }
}
