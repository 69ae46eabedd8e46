//! The reference in `docs/reference/`: pages made from the code, so that they cannot be wrong.
//!
//! Knows where each page goes; what is on it is its module's.

mod cli;
mod config;
mod errors;
mod metrics;
mod table;

#[cfg(test)]
mod tests;

type Page = fn() -> String;

/// Every page: its path in the repository and what writes it.
const PAGES: &[(&str, Page)] = &[
    ("docs/reference/cli.md", cli::page),
    ("docs/reference/config.md", config::page),
    ("docs/reference/errors.md", errors::page),
    ("docs/reference/metrics.md", metrics::page),
];

/// All pages, by their path in the repository.
pub fn pages() -> Vec<(&'static str, String)> {
    PAGES.iter().map(|(path, page)| (*path, page())).collect()
}
