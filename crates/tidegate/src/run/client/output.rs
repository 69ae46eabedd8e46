//! The output of a client command, and how text is laid out on a terminal.

use std::io::{self, Write};

use terminal_size::{Width, terminal_size_of};
use tidegate_core::RawJson;

use crate::cli::Exit;

/// Between two columns.
const GAP: &str = "  ";

/// The last column keeps this width on a narrow terminal.
const MIN_LAST_COLUMN: usize = 20;

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

/// How text on stdout is styled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Whether escape sequences are printed at all.
    pub(super) color: bool,
}

impl Style {
    pub(super) fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A health status: green, yellow or red.
    pub(super) fn status(self, status: &str) -> String {
        match status {
            "healthy" => self.paint("32", status),
            "warning" => self.paint("33", status),
            _ => self.paint("31", status),
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self.color && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// Rows as aligned columns. On a terminal, the last column is cut to the width of the terminal.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    styled_columns(rows, |_, _, cell| cell.to_owned())
}

/// Like [`columns`], with a style for each cell, by its row and column.
pub(super) fn styled_columns<const N: usize>(
    rows: &[[String; N]],
    style: impl Fn(usize, usize, &str) -> String,
) -> String {
    let terminal = terminal_size_of(io::stdout());
    let width = terminal.map(|(Width(columns), _)| usize::from(columns));
    aligned(rows, width, style)
}

fn aligned<const N: usize>(
    rows: &[[String; N]],
    line_width: Option<usize>,
    style: impl Fn(usize, usize, &str) -> String,
) -> String {
    let column_width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let mut widths: [usize; N] = std::array::from_fn(column_width);
    if let (Some(line_width), Some((last, others))) = (line_width, widths.split_last_mut()) {
        let used: usize = others.iter().map(|width| width + GAP.len()).sum();
        *last = line_width.saturating_sub(used).max(MIN_LAST_COLUMN);
    }
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = std::iter::zip(row, widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column + 1 == N {
            true => style(number, column, &shorten(cell, width)),
            false => {
                // Padded after styling: escape sequences have no width.
                let padding = width - cell.chars().count() + GAP.len();
                format!("{}{:padding$}", style(number, column, cell), "")
            }
        });
        text += cells.collect::<String>().trim_end();
        text.push('\n');
    }
    text
}

/// Cuts a text to a number of characters.
fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_columns() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let rows = [row("a", "one"), row("bcd", ""), row("é", "two")];
        assert_eq!(plain(&rows, None), "a    one\nbcd\né    two\n");
    }

    fn plain(rows: &[[String; 2]], width: Option<usize>) -> String {
        aligned(rows, width, |_, _, cell| cell.to_owned())
    }

    #[test]
    fn styles_do_not_change_the_alignment() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let rows = [row("name", "status"), row("a", "healthy"), row("b", "")];
        let style = Style { color: true };
        let text = aligned(&rows, None, |row, _, cell| match row {
            0 => style.heading(cell),
            _ => style.status(cell),
        });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "\u{1b}[1mname\u{1b}[0m  \u{1b}[1mstatus\u{1b}[0m");
        assert_eq!(
            lines[1],
            "\u{1b}[31ma\u{1b}[0m     \u{1b}[32mhealthy\u{1b}[0m"
        );
        assert_eq!(lines[2], "\u{1b}[31mb\u{1b}[0m");
    }

    #[test]
    fn cuts_only_the_last_column_to_the_terminal() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let rows = [row("name", "a description of 30 characters")];
        let cut = "name  a description of 30…\n";
        assert_eq!(plain(&rows, Some(27)), cut);
        assert_eq!(plain(&rows, Some(10)), cut);
        let whole = "name  a description of 30 characters\n";
        assert_eq!(plain(&rows, Some(36)), whole);
        assert_eq!(plain(&rows, None), whole);
    }

    #[test]
    fn replaces_control_characters() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{9b}d"), "a [31mb c d");
    }
}
