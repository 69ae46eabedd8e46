//! Text with `{{argument}}` placeholders. `\{{` is a literal `{{`.

use std::collections::BTreeMap;

use tidegate_core::truncate_for_message;

use super::argument::{FileArgument, is_argument_name};
use super::front_matter::LineProblem;

/// The size limit of a rendered prompt.
pub(super) const MAX_PROMPT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextTemplate(Vec<TextPiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TextPiece {
    Literal(String),
    /// The value of the argument with this name.
    Argument(String),
}

impl TextTemplate {
    /// Parses a text that starts in this line of its file.
    pub(super) fn parse(
        text: &str,
        line: u64,
        arguments: &[FileArgument],
    ) -> Result<Self, LineProblem> {
        let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), text);
        let line_of = |rest: &str| {
            let before = &text[..text.len() - rest.len()];
            line + before.matches('\n').count() as u64
        };
        while let Some(at) = rest.find("{{") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if let Some(before) = before.strip_suffix('\\') {
                literal.push_str(before);
                literal.push_str("{{");
                rest = after;
                continue;
            }
            let name = placeholder(after, line_of(&rest[at..]), arguments)?;
            literal.push_str(before);
            if !literal.is_empty() {
                pieces.push(TextPiece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(TextPiece::Argument(name.trim().to_owned()));
            rest = &after[name.len() + 2..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(TextPiece::Literal(literal));
        }
        Ok(Self(pieces))
    }

    /// A text without placeholders; braces in it are literal.
    pub(super) fn literal(text: &str) -> Self {
        Self(vec![TextPiece::Literal(text.to_owned())])
    }

    /// The text with these values; `None` if it exceeds the size limit.
    pub(super) fn render(&self, values: &BTreeMap<String, String>) -> Option<String> {
        let pieces = || {
            self.0.iter().map(|piece| match piece {
                TextPiece::Literal(text) => text.as_str(),
                TextPiece::Argument(name) => values.get(name).map_or("", String::as_str),
            })
        };
        let length = pieces().try_fold(0_usize, |sum, piece| sum.checked_add(piece.len()))?;
        (length <= MAX_PROMPT_BYTES).then(|| pieces().collect())
    }
}

/// The text between the braces, which must be the name of an argument.
fn placeholder<'a>(
    after: &'a str,
    line: u64,
    arguments: &[FileArgument],
) -> Result<&'a str, LineProblem> {
    let advice = "write `\\{{` for literal braces";
    let Some((inside, _)) = after.split_once("}}") else {
        let message = format!("`{{{{` is not closed; {advice}");
        return Err(LineProblem::new(line, message));
    };
    let name = inside.trim();
    if arguments.iter().any(|argument| argument.name == name) {
        return Ok(inside);
    }
    let quoted = truncate_for_message(inside.lines().next().unwrap_or_default());
    if !is_argument_name(name) {
        let message = format!("`{{{{{quoted}}}}}` is not a valid argument name; {advice}");
        return Err(LineProblem::new(line, message));
    }
    let declared: Vec<_> = arguments
        .iter()
        .map(|argument| argument.name.as_str())
        .collect();
    let declared = match declared.is_empty() {
        true => "none are declared".to_owned(),
        false => format!("declared: {}", declared.join(", ")),
    };
    let message = format!(
        "`{{{{{quoted}}}}}` is not a declared argument ({declared}); add it to `arguments`, or \
         {advice}"
    );
    Err(LineProblem::new(line, message))
}
