//! The page on errors, generated from the table of codes.
//!
//! Must not know: any code by name.

use tidegate_core::Code;
use tidegate_mcp::codes;

use super::table::{code, table};

const OPENING: &str = include_str!("errors_opening.md");

/// The page.
pub(super) fn page() -> String {
    let rows: Vec<[String; 6]> = codes::ALL.into_iter().map(row).collect();
    OPENING.to_owned()
        + &table(
            [
                "`data.kind`",
                "code",
                "code for older clients",
                "HTTP",
                "mapped",
                "meaning",
            ],
            &rows,
        )
}

fn row(error: Code) -> [String; 6] {
    let row = codes::of(error);
    let own_number = matches!(error, Code::Source(_));
    let number = |number: i64| match own_number {
        true => "its own".to_owned(),
        false => code(&number.to_string()),
    };
    let legacy = match row.legacy == row.modern {
        true => String::new(),
        false => number(row.legacy),
    };
    let status = match row.legacy_status == row.modern_status {
        true => row.modern_status.to_string(),
        false => format!(
            "{} ({} for older clients)",
            row.modern_status, row.legacy_status
        ),
    };
    let mapped = match own_number {
        true => "500, 400 or 404 by its code".to_owned(),
        false => row.mapped_status.to_string(),
    };
    [
        code(row.kind),
        number(row.modern),
        legacy,
        status,
        mapped,
        row.meaning.to_owned(),
    ]
}
