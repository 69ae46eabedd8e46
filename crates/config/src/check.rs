//! From a section as written to a checked configuration: defaults, ranges, paths and secrets.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::environment::Environment;
use crate::secret_text::{ResolvedText, SecretText};

/// The section of a component as it is written in the file. Every field is optional unless the
/// component cannot work without it. Doc comments are the text of the reference and the JSON Schema.
pub trait Section: DeserializeOwned + JsonSchema {
    /// The checked configuration.
    type Config;

    /// Checks all fields and fills in defaults. Reports every problem to `checker`; the result is
    /// used only if there are no problems.
    fn check(self, checker: &mut Checker<'_>) -> Option<Self::Config>;
}

/// A problem with a field.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The path of keys to the field, from the top of the file.
    pub path: Vec<String>,
    pub location: Location,
    pub message: String,
}

/// Which part of a `key: value` pair a problem points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    Key,
    Value,
}

/// Checks the fields of one section and collects their problems.
pub struct Checker<'a> {
    path: Vec<String>,
    environment: &'a Environment<'a>,
    /// The folder of the configuration file, where relative paths start.
    base: &'a Path,
    problems: Vec<FieldProblem>,
}

impl<'a> Checker<'a> {
    /// A checker for the section at this path of the file.
    pub fn new(path: &[&str], environment: &'a Environment<'a>, base: &'a Path) -> Self {
        Self {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            environment,
            base,
            problems: Vec::new(),
        }
    }

    pub fn into_problems(self) -> Vec<FieldProblem> {
        self.problems
    }

    /// Reports a problem with the value of a field. `field` is its path inside the section.
    pub fn problem(&mut self, field: &[&str], message: impl Display) {
        let path = self.full_path(field);
        let message = format!("`{}`: {message}", path.join("."));
        self.push(path, Location::Value, message);
    }

    /// Reports a problem with an item of a list. The item is found by its text.
    pub fn item_problem(&mut self, field: &[&str], item: &str, message: impl Display) {
        let name = self.full_path(field).join(".");
        let path = self.full_path(&[field, &[item]].concat());
        self.push(path, Location::Value, format!("`{name}`: {message}"));
    }

    /// Reports a problem with the section as a whole.
    pub fn section_problem(&mut self, message: impl Display) {
        let path = self.path.clone();
        let message = format!("`{}`: {message}", path.join("."));
        self.push(path, Location::Key, message);
    }

    /// The written value converted, or the default. A value outside the range is a problem.
    pub fn in_range<T, V>(
        &mut self,
        field: &str,
        written: Option<T>,
        default: V,
        range: RangeInclusive<T>,
    ) -> V
    where
        T: Copy + PartialOrd + Display + Into<V>,
    {
        self.optional_in_range(field, written, range)
            .unwrap_or(default)
    }

    /// Like [`in_range`](Self::in_range), for a field without a default. `field` may name a field
    /// of a subsection: `breaker.open_duration`.
    pub fn optional_in_range<T, V>(
        &mut self,
        field: &str,
        written: Option<T>,
        range: RangeInclusive<T>,
    ) -> Option<V>
    where
        T: Copy + PartialOrd + Display + Into<V>,
    {
        let value = written?;
        if range.contains(&value) {
            return Some(value.into());
        }
        let keys: Vec<&str> = field.split('.').collect();
        let (min, max) = range.into_inner();
        self.problem(
            &keys,
            format!("{value} is out of range; use {min} to {max}"),
        );
        None
    }

    /// The absolute form of a folder. An empty path is a problem.
    pub fn folder(&mut self, field: &str, written: &Path) -> PathBuf {
        if written.as_os_str().is_empty() {
            self.problem(&[field], "the path is empty; name a folder");
        }
        self.environment.absolute(written, self.base)
    }

    /// The path of a file to read now. Relative paths start at the folder of the configuration file.
    pub fn file(&self, written: &Path) -> PathBuf {
        self.base.join(written)
    }

    /// Text with its secret references resolved. The message of a problem never repeats the text.
    pub fn secret_text(&mut self, field: &[&str], written: &str) -> Option<ResolvedText> {
        self.resolve(written)
            .map_err(|message| self.problem(field, message))
            .ok()
    }

    /// The items of a list with their secret references resolved.
    pub fn secret_items(&mut self, field: &str, written: &[String]) -> Vec<ResolvedText> {
        let mut resolved = Vec::new();
        for item in written {
            match self.resolve(item) {
                Ok(text) => resolved.push(text),
                Err(message) => self.item_problem(&[field], item, message),
            }
        }
        resolved
    }

    fn resolve(&self, written: &str) -> Result<ResolvedText, String> {
        SecretText::parse(written)?.resolve(self.base, self.environment)
    }

    fn full_path(&self, field: &[&str]) -> Vec<String> {
        let field = field.iter().map(|key| (*key).to_owned());
        self.path.iter().cloned().chain(field).collect()
    }

    fn push(&mut self, path: Vec<String>, location: Location, message: String) {
        self.problems.push(FieldProblem {
            path,
            location,
            message,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_size::ByteSize;

    #[test]
    fn reports_values_out_of_range_with_their_full_name() {
        let environment = Environment::new(|_| None, "");
        let mut checker = Checker::new(&["sources", "a"], &environment, Path::new(""));
        let range = ByteSize::kib(1)..=ByteSize::mib(1);
        let default: usize = checker.in_range("bytes", None, 7, range.clone());
        let written: usize = checker.in_range("bytes", Some(ByteSize::kib(2)), 7, range.clone());
        let wrong: usize = checker.in_range("quota.bytes", Some(ByteSize(1)), 7, range);
        assert_eq!((default, written, wrong), (7, 2048, 7));
        let problems = checker.into_problems();
        let [problem] = &problems[..] else {
            panic!("{problems:?}")
        };
        assert_eq!(problem.path, ["sources", "a", "quota", "bytes"]);
        assert_eq!(
            problem.message,
            "`sources.a.quota.bytes`: 1 is out of range; use 1KiB to 1MiB"
        );
    }
}
