//! What a command prints, and how it ends. Printed at once, when all that was started has ended.
//!
//! Knows nothing of the question.

use std::io::{self, Write};

use tidegate_core::RawJson;

use crate::cli::Exit;

/// Data for stdout, words for stderr, and an exit code.
pub(super) struct Answer {
    pub(super) data: Vec<u8>,
    pub(super) words: String,
    pub(super) exit: Exit,
}

impl Answer {
    pub(super) fn of(data: impl Into<Vec<u8>>) -> Self {
        Self {
            data: data.into(),
            words: String::new(),
            exit: Exit::Done,
        }
    }

    /// A result as it came: read and written again, long numbers would be others.
    pub(super) fn json(result: &RawJson) -> Self {
        Self::of(format!("{result}\n"))
    }

    pub(super) fn print(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        // A standard error that is gone must not keep the data back.
        err.write_all(self.words.as_bytes()).ok();
        out.write_all(&self.data)?;
        out.flush()?;
        Ok(self.exit)
    }
}

/// Foreign words on one line of a terminal: nothing in them moves the cursor or changes a colour.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Rows in columns as wide as they need to be; the last column is as long as it is.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells = std::iter::zip(row, widths).map(|(cell, width)| format!("{cell:<width$}  "));
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_needed() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let text = columns(&[row("a", "one"), row("bcd", ""), row("é", "two")]);
        assert_eq!(text, "a    one\nbcd\né    two\n");
    }

    #[test]
    fn foreign_words_cannot_steer_a_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\nc\u{9b}d"), "a [31mb c d");
    }
}
