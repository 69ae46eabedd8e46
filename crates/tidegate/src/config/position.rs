//! Positions in the configuration file.

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u64,
    pub column: u64,
}

impl Position {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}
