//! The front matter of a Markdown file: YAML between two lines of dashes. What is wrong with it is
//! told with its line.

use serde::de::DeserializeOwned;
use serde_saphyr::UserMessageFormatter;

/// Something that is wrong with a file: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Counted from 1.
    pub(super) line: u64,
    pub(super) message: String,
}

impl Wrong {
    pub(super) fn new(line: u64, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// A file with front matter, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    front: &'a str,
    pub(super) body: &'a str,
    /// The line of the file that the body begins in.
    pub(super) body_line: u64,
}

const FENCE: &str = "---";

/// Whether a file begins with front matter, by its first bytes.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = bytes.split(|byte| *byte == b'\n').next();
    first.is_some_and(|line| line.trim_ascii_end() == FENCE.as_bytes())
}

/// Takes a file apart; none if it has no front matter.
pub(super) fn parts(text: &str) -> Result<Option<Parts<'_>>, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == FENCE) else {
        return Ok(None);
    };
    let mut end = first.len();
    for (line, number) in lines.zip(2..) {
        if line.trim_end() == FENCE {
            return Ok(Some(Parts {
                front: &text[first.len()..end],
                body: &text[end + line.len()..],
                body_line: number + 1,
            }));
        }
        end += line.len();
    }
    Err(Wrong::new(
        1,
        "the front matter is not closed; end it with a line `---`",
    ))
}

impl Parts<'_> {
    /// Reads the front matter.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Wrong> {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            with_snippet: false,
        };
        let front = match self.front.trim().is_empty() {
            true => "{}",
            false => self.front,
        };
        serde_saphyr::from_str_with_options(front, options).map_err(|error| {
            let at = error.location();
            let line = at.map_or(0, |at| at.line());
            let message = error.render_with_formatter(&UserMessageFormatter);
            let place = at.map(|at| format!(" at line {}, column {}", at.line(), at.column()));
            let message =
                match place.and_then(|place| message.strip_suffix(&place).map(str::to_owned)) {
                    Some(without) => without,
                    None => message,
                };
            Wrong::new(in_file(line), message)
        })
    }
}

/// The line of the file that a line of the front matter is. Before it is the fence.
pub(super) fn in_file(line: u64) -> u64 {
    line + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_apart() {
        let taken = parts("---\na: 1\n---\nbody\n").unwrap().unwrap();
        assert_eq!(
            (taken.front, taken.body, taken.body_line),
            ("a: 1\n", "body\n", 4)
        );
        let empty = parts("---\r\n---").unwrap().unwrap();
        assert_eq!((empty.front, empty.body, empty.body_line), ("", "", 3));
        assert_eq!(parts("# x\n---\na: 1\n---\n").unwrap(), None);
        assert_eq!(parts("").unwrap(), None);
        assert_eq!(parts("---\na: 1\n").unwrap_err().line, 1);
    }
}
