//! `cargo xtask tidy`: the project rules that neither the compiler nor clippy can check.
//!
//! Each check is a pure function from text to problems; only this file and `sources` read files.
//! Must not know: how to fix anything.

mod cycles;
mod edges;
mod hosts;
mod locks;
mod module_paths;
mod pages;
mod protocol_terms;
mod retired_terms;
mod shape;
mod sources;

use std::fmt;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// One violated rule, printed as one line that editors can jump to.
#[derive(Debug, PartialEq)]
struct Problem {
    path: String,
    line: usize,
    /// What is wrong and what to do.
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

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut problems = Vec::new();
    for manifest in sources::manifests(workspace)? {
        problems.extend(edges::check(&manifest));
    }
    let rust = sources::rust(workspace)?;
    for file in &rust {
        problems.extend(protocol_terms::check(file));
        problems.extend(shape::check(file));
    }
    problems.extend(cycles::check(&rust, &sources::architecture(workspace)?));
    for file in sources::tracked(workspace)? {
        problems.extend(hosts::check(&file));
        problems.extend(retired_terms::check(&file));
    }
    problems.extend(locks::check(workspace));
    problems.extend(pages::check(workspace));
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("1 rule violation"),
        n => bail!("{n} rule violations"),
    }
}
