//! `cargo xtask tidy`: the house rules that neither the compiler nor clippy can check.
//!
//! Each check is a pure function from text to problems; only this file and `sources` read files.
//! Must not know: how to mend anything.

mod cycles;
mod edges;
mod hosts;
mod locks;
mod module_paths;
mod pages;
mod shape;
mod sources;
mod vocabulary;

use std::fmt;

use anyhow::{Result, bail};

use crate::place::Place;

/// One broken rule, as one line that editors and people can follow.
#[derive(Debug, PartialEq)]
struct Problem {
    path: String,
    line: usize,
    /// What is wrong; what to do.
    text: String,
}

impl Problem {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

pub(crate) fn run(place: &Place) -> Result<()> {
    let mut problems = Vec::new();
    for manifest in sources::manifests(place)? {
        problems.extend(edges::check(&manifest));
    }
    let rust = sources::rust(place)?;
    for file in &rust {
        problems.extend(vocabulary::check(file));
        problems.extend(shape::check(file));
    }
    problems.extend(cycles::check(&rust, &sources::architecture(place)?));
    for file in sources::tracked(place)? {
        problems.extend(hosts::check(&file));
    }
    problems.extend(locks::check(place));
    problems.extend(pages::check(place));
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("1 rule is broken"),
        n => bail!("{n} rules are broken"),
    }
}
