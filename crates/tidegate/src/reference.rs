//! The reference in `docs/reference/`: pages generated from the code.
//!
//! Must not know: the content of a page.

mod cli;
mod config;
mod errors;
mod metrics;
mod table;
mod yaml;

#[cfg(test)]
mod tests;

type Page = fn() -> String;

/// Every page: its path in the repository and the function that generates it.
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
