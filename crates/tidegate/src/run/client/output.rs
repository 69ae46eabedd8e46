//! The output of a client command, and how text is laid out on a terminal.

use std::io::{self, Write};

use tidegate_core::RawJson;

use crate::cli::Exit;

/// Data for stdout, messages for stderr, and an exit code.
pub(super) struct CommandOutput {
    pub(super) data: Vec<u8>,
    pub(super) messages: String,
    pub(super) exit: Exit,
}

impl CommandOutput {
    pub(super) fn data(data: impl Into<Vec<u8>>) -> Self {
        Self {
            data: data.into(),
            messages: String::new(),
            exit: Exit::Success,
        }
    }

    /// A result byte for byte: parsing and printing it again would change long numbers.
    pub(super) fn json(result: &RawJson) -> Self {
        Self::data(format!("{result}\n"))
    }

    /// No data, and a message.
    pub(super) fn failure(message: &str) -> Self {
        Self {
            data: Vec::new(),
            messages: format!("tidegate: {message}\n"),
            exit: Exit::Failure,
        }
    }

    pub(super) fn print(&self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        // A closed stderr must not suppress the data.
        err.write_all(self.messages.as_bytes()).ok();
        out.write_all(&self.data)?;
        out.flush()?;
        Ok(self.exit)
    }
}

/// Replaces control characters, so that text of a server cannot control the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Rows as aligned columns.
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
    fn aligns_columns() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let text = columns(&[row("a", "one"), row("bcd", ""), row("é", "two")]);
        assert_eq!(text, "a    one\nbcd\né    two\n");
    }

    #[test]
    fn replaces_control_characters() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{9b}d"), "a [31mb c d");
    }
}
