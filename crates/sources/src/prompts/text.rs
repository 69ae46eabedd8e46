//! Text with `{{argument}}` in it. `\{{` stands for two braces.

use std::collections::BTreeMap;

use super::argument::{Argument, is_name};
use super::front::Wrong;

/// A prompt that becomes larger is not meant to be read.
pub(super) const LONGEST: usize = 4 * 1024 * 1024;

/// A text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    /// What the argument of this name is.
    Argument(String),
}

impl Text {
    /// Takes a text apart that begins in this line of its file.
    pub(super) fn parse(text: &str, line: u64, arguments: &[Argument]) -> Result<Self, Wrong> {
        let (mut pieces, mut words, mut rest) = (Vec::new(), String::new(), text);
        let line_of = |rest: &str| {
            let before = &text[..text.len() - rest.len()];
            line + before.matches('\n').count() as u64
        };
        while let Some(at) = rest.find("{{") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if let Some(before) = before.strip_suffix('\\') {
                words.push_str(before);
                words.push_str("{{");
                rest = after;
                continue;
            }
            let line = line_of(&rest[at..]);
            let name = placeholder(after, line, arguments)?;
            words.push_str(before);
            if !words.is_empty() {
                pieces.push(Piece::Words(std::mem::take(&mut words)));
            }
            pieces.push(Piece::Argument(name.trim().to_owned()));
            rest = &after[name.len() + 2..];
        }
        words.push_str(rest);
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        Ok(Self(pieces))
    }

    /// A text in which braces mean nothing.
    pub(super) fn verbatim(text: &str) -> Self {
        Self(vec![Piece::Words(text.to_owned())])
    }

    /// The text with its arguments filled in; none if it would be too large.
    pub(super) fn filled(&self, values: &BTreeMap<String, String>) -> Option<String> {
        let pieces = || {
            self.0.iter().map(|piece| match piece {
                Piece::Words(words) => words.as_str(),
                Piece::Argument(name) => values.get(name).map_or("", String::as_str),
            })
        };
        let length = pieces().try_fold(0_usize, |sum, piece| sum.checked_add(piece.len()))?;
        (length <= LONGEST).then(|| pieces().collect())
    }
}

/// What is between the braces, which must be the name of an argument.
fn placeholder<'a>(after: &'a str, line: u64, arguments: &[Argument]) -> Result<&'a str, Wrong> {
    let advice = "write `\\{{` where two braces are meant";
    let Some((inside, _)) = after.split_once("}}") else {
        return Err(Wrong::new(line, format!("`{{{{` is not closed; {advice}")));
    };
    let name = inside.trim();
    if arguments.iter().any(|one| one.name == name) {
        return Ok(inside);
    }
    let shown = tidegate_core::truncate_for_message(inside.lines().next().unwrap_or_default());
    if !is_name(name) {
        let message = format!("`{{{{{shown}}}}}` is not the name of an argument; {advice}");
        return Err(Wrong::new(line, message));
    }
    let known: Vec<_> = arguments.iter().map(|one| one.name.as_str()).collect();
    let known = match known.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are {}", known.join(", ")),
    };
    let message =
        format!("`{{{{{shown}}}}}` names no argument; {known}. Add it to `arguments`, or {advice}");
    Err(Wrong::new(line, message))
}
