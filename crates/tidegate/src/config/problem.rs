//! What is wrong with a configuration, in words for the person who wrote it.
//!
//! Knows where a setting can come from, and nothing of what the settings are.

use std::fmt;
use std::path::PathBuf;

use super::tree::Node;

/// A line and a column of the file, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// Where a setting was given. The order is the order in which problems are told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    File { path: PathBuf, place: Option<Place> },
    Flag(&'static str),
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, place: None } => write!(f, "{}", path.display()),
            Self::File {
                path,
                place: Some(at),
            } => {
                write!(f, "{}:{}:{}", path.display(), at.line, at.column)
            }
            Self::Flag(name) | Self::Variable(name) => f.write_str(name),
        }
    }
}

/// One thing that is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// Everything that is wrong with a configuration: at least one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// All of them, in the order of the file; flags and variables come last.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in self.iter() {
            writeln!(f, "{problem}")?;
        }
        match self.0.len() {
            1 => f.write_str("1 problem in the configuration"),
            count => write!(f, "{count} problems in the configuration"),
        }
    }
}

impl std::error::Error for Problems {}

/// The problems found so far, and the tree that says at which line each of them is.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    file: PathBuf,
    tree: Node,
    problems: Vec<Problem>,
}

impl Diagnostics {
    /// None yet, in this file. `file` is the name that the messages show.
    pub(crate) fn new(file: PathBuf, tree: Node) -> Self {
        Self {
            file,
            tree,
            problems: Vec::new(),
        }
    }

    pub(crate) fn tree(&self) -> &Node {
        &self.tree
    }

    /// Something is wrong with the value at this path of the file.
    pub(crate) fn value(&mut self, path: &[&str], message: impl Into<String>) {
        self.push(self.origin(path), message);
    }

    /// Something is wrong with the key at the end of this path.
    pub(crate) fn key(&mut self, path: &[&str], message: impl Into<String>) {
        let place = path
            .split_last()
            .and_then(|(last, above)| self.tree.find(above)?.entry(last).map(|entry| entry.key_at));
        self.push(self.in_file(place), message);
    }

    /// Something is wrong at this place of the file.
    pub(crate) fn place(&mut self, at: Place, message: impl Into<String>) {
        self.push(self.in_file(Some(at)), message);
    }

    /// Something is wrong with a setting from this origin.
    pub(crate) fn push(&mut self, origin: Origin, message: impl Into<String>) {
        self.problems.push(Problem {
            origin,
            message: message.into(),
        });
    }

    /// Where the value at this path is written.
    pub(crate) fn origin(&self, path: &[&str]) -> Origin {
        self.in_file(self.tree.find(path).map(|node| node.at))
    }

    fn in_file(&self, place: Option<Place>) -> Origin {
        Origin::File {
            path: self.file.clone(),
            place,
        }
    }

    /// `settings` when nothing was wrong, else all that was.
    pub(crate) fn settle<T>(mut self, settings: T) -> Result<T, Problems> {
        match self.problems.is_empty() {
            true => Ok(settings),
            false => {
                self.problems.sort_by(|a, b| a.origin.cmp(&b.origin));
                Err(Problems(self.problems))
            }
        }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}
