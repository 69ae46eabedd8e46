//! Problems of a configuration, with their position in the file or the flag or variable they come
//! from. Must not know any setting.

use std::fmt;
use std::path::PathBuf;

use tidegate_config::{FieldProblem, Location};

use super::position::Position;
use super::tree::Node;

/// Where a setting was written. Problems are sorted in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    File {
        path: PathBuf,
        position: Option<Position>,
    },
    Flag(&'static str),
    Variable(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File {
                path,
                position: None,
            } => write!(f, "{}", path.display()),
            Self::File {
                path,
                position: Some(at),
            } => write!(f, "{}:{}:{}", path.display(), at.line, at.column),
            Self::Flag(name) | Self::Variable(name) => f.write_str(name),
        }
    }
}

/// One problem, with the fix in its message.
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

/// All problems of a configuration; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Problems of the file in its order, then problems of flags and variables.
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

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// Collects problems. Holds the tree of the file to find the position of each.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    file: PathBuf,
    tree: Node,
    problems: Vec<Problem>,
}

impl Diagnostics {
    /// `file` is the name that messages show.
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

    /// Reports a problem with the value at this path of the file.
    pub(crate) fn value(&mut self, path: &[&str], message: impl Into<String>) {
        self.push(self.origin(path), message);
    }

    /// Reports a problem with the key at the end of this path.
    pub(crate) fn key(&mut self, path: &[&str], message: impl Into<String>) {
        let position = path.split_last().and_then(|(key, parent)| {
            let entry = self.tree.find(parent)?.entry(key)?;
            Some(entry.key_position)
        });
        self.push(self.in_file(position), message);
    }

    /// Reports a problem at this position of the file.
    pub(crate) fn at(&mut self, position: Position, message: impl Into<String>) {
        self.push(self.in_file(Some(position)), message);
    }

    /// Reports a problem with a setting from this origin.
    pub(crate) fn push(&mut self, origin: Origin, message: impl Into<String>) {
        self.problems.push(Problem {
            origin,
            message: message.into(),
        });
    }

    /// Reports the problems that a section found in its fields.
    pub(crate) fn fields(&mut self, problems: Vec<FieldProblem>) {
        for problem in problems {
            let path: Vec<&str> = problem.path.iter().map(String::as_str).collect();
            match problem.location {
                Location::Key => self.key(&path, problem.message),
                Location::Value => self.value(&path, problem.message),
            }
        }
    }

    /// Where the value at this path is written.
    pub(crate) fn origin(&self, path: &[&str]) -> Origin {
        self.in_file(self.tree.find(path).map(|node| node.position))
    }

    fn in_file(&self, position: Option<Position>) -> Origin {
        Origin::File {
            path: self.file.clone(),
            position,
        }
    }

    /// `settings` if there was no problem, otherwise all problems.
    pub(crate) fn finish<T>(mut self, settings: T) -> Result<T, Problems> {
        if self.problems.is_empty() {
            return Ok(settings);
        }
        self.problems.sort_by(|a, b| a.origin.cmp(&b.origin));
        Err(Problems(self.problems))
    }
}
