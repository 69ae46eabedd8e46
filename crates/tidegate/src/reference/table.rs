//! Markdown: tables, headings and code.

use std::fmt::Write;

/// A table with these columns. Empty columns are left out.
pub(super) fn table<const N: usize>(columns: [&str; N], rows: &[[String; N]]) -> String {
    let shown: Vec<usize> = (0..N)
        .filter(|column| rows.iter().any(|row| !row[*column].is_empty()))
        .collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(
        shown
            .iter()
            .map(|column| columns[*column].to_owned())
            .collect(),
    );
    text += &line(shown.iter().map(|_| "---".to_owned()).collect());
    for row in rows {
        text += &line(shown.iter().map(|column| cell(&row[*column])).collect());
    }
    text
}

/// The text of a cell: one line, with bars escaped.
fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// Inline code.
pub(super) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A heading of this depth, and the blank lines around it.
pub(super) fn heading(depth: usize, text: &str) -> String {
    let mut heading = String::new();
    // Writing to a String cannot fail.
    let _ = write!(heading, "\n{} {text}\n\n", "#".repeat(depth));
    heading
}
