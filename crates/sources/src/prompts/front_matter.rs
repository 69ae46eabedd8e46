//! The front matter of a Markdown file: YAML between two lines of dashes. Problems are reported with
//! their line.

use serde::de::DeserializeOwned;
use serde_saphyr::UserMessageFormatter;

/// A problem in a file, with its fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineProblem {
    /// Counted from 1.
    pub(super) line: u64,
    pub(super) message: String,
}

impl LineProblem {
    pub(super) fn new(line: u64, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// A file with front matter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MarkdownFile<'a> {
    front_matter: &'a str,
    pub(super) body: &'a str,
    /// The first line of the body.
    pub(super) body_line: u64,
}

const DELIMITER: &str = "---";

/// Whether a file starts with front matter, by its first bytes.
pub(super) fn has_front_matter(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = bytes.split(|byte| *byte == b'\n').next();
    first.is_some_and(|line| line.trim_ascii_end() == DELIMITER.as_bytes())
}

impl<'a> MarkdownFile<'a> {
    /// `None` if the text has no front matter.
    pub(super) fn split(text: &'a str) -> Result<Option<Self>, LineProblem> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        let Some(first) = lines.next().filter(|line| line.trim_end() == DELIMITER) else {
            return Ok(None);
        };
        let mut end = first.len();
        for (line, number) in lines.zip(2..) {
            if line.trim_end() == DELIMITER {
                return Ok(Some(Self {
                    front_matter: &text[first.len()..end],
                    body: &text[end + line.len()..],
                    body_line: number + 1,
                }));
            }
            end += line.len();
        }
        Err(LineProblem::new(
            1,
            "the front matter is not closed; end it with a line `---`",
        ))
    }

    /// Parses the front matter.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, LineProblem> {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            with_snippet: false,
        };
        let yaml = match self.front_matter.trim().is_empty() {
            true => "{}",
            false => self.front_matter,
        };
        serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
            let location = error.location();
            let line = location.map_or(0, |location| location.line());
            let message = error.render_with_formatter(&UserMessageFormatter);
            // The library's location counts from the start of the front matter.
            let suffix = location.map(|location| {
                format!(" at line {}, column {}", location.line(), location.column())
            });
            let stripped = suffix.and_then(|suffix| message.strip_suffix(&suffix));
            let message = stripped.unwrap_or(&message).to_owned();
            LineProblem::new(file_line(line), message)
        })
    }
}

/// Converts a line of the front matter to a line of the file, which starts with the delimiter.
pub(super) fn file_line(line: u64) -> u64 {
    line + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_front_matter_and_body() {
        let file = MarkdownFile::split("---\na: 1\n---\nbody\n");
        let file = file.unwrap().unwrap();
        assert_eq!(
            (file.front_matter, file.body, file.body_line),
            ("a: 1\n", "body\n", 4)
        );
        let empty = MarkdownFile::split("---\r\n---").unwrap().unwrap();
        assert_eq!(
            (empty.front_matter, empty.body, empty.body_line),
            ("", "", 3)
        );
        let without = MarkdownFile::split("# x\n---\na: 1\n---\n");
        assert_eq!(without.unwrap(), None);
        assert_eq!(MarkdownFile::split("").unwrap(), None);
        assert_eq!(MarkdownFile::split("---\na: 1\n").unwrap_err().line, 1);
    }
}
