//! Patterns of the configuration, in the syntax of `.gitignore`.

use std::fmt;

use ignore::gitignore::Gitignore;

use super::RelativePath;
use super::gitignore_lines::{builder, describe};

/// Patterns in the syntax of `.gitignore`.
#[derive(Clone)]
pub struct Patterns {
    written: Vec<String>,
    matcher: Gitignore,
}

impl Patterns {
    pub fn parse(written: &[String]) -> Result<Self, InvalidPattern> {
        let mut builder = builder();
        for pattern in written {
            let invalid = |reason: String| InvalidPattern {
                pattern: pattern.clone(),
                reason,
            };
            if let Some(problem) = problem(pattern) {
                return Err(invalid(problem.to_owned()));
            }
            let added = builder.add_line(None, pattern);
            added.map_err(|error| invalid(describe(&error)))?;
        }
        let matcher = builder.build().map_err(|error| InvalidPattern {
            pattern: written.join(", "),
            reason: describe(&error),
        })?;
        Ok(Self {
            written: written.to_vec(),
            matcher,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Whether the path, or a folder above it, matches.
    pub(super) fn matches(&self, path: &RelativePath, is_folder: bool) -> bool {
        !self.is_empty()
            && !path.is_root()
            && self
                .matcher
                .matched_path_or_any_parents(path.as_path(), is_folder)
                .is_ignore()
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.written).finish()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Patterns {}

impl Default for Patterns {
    fn default() -> Self {
        Self {
            written: Vec::new(),
            matcher: Gitignore::empty(),
        }
    }
}

/// An invalid pattern.
#[derive(Debug)]
pub struct InvalidPattern {
    pub pattern: String,
    pub reason: String,
}

/// In a configuration, lines that git ignores are mistakes.
fn problem(pattern: &str) -> Option<&'static str> {
    match pattern {
        blank if blank.trim().is_empty() => Some("it is empty"),
        comment if comment.starts_with('#') => {
            Some("it is a comment; write `\\#` for a name that starts with `#`")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A typo must not expose files that should be hidden.
    #[test]
    fn rejects_invalid_patterns() {
        for (pattern, reason) in [
            ("[z-a]", "range"),
            ("secret[0-9.txt", "unclosed bracket"),
            ("secret[]", "unclosed bracket"),
            ("#secret", "comment"),
            ("  ", "empty"),
        ] {
            let written = ["*.md".to_owned(), pattern.to_owned()];
            let invalid = Patterns::parse(&written).unwrap_err();
            assert_eq!(invalid.pattern, pattern);
            assert!(invalid.reason.contains(reason), "{invalid:?}");
        }
        let valid = ["[]]", "a\\[b", "\\#secret", "!kept"].map(str::to_owned);
        Patterns::parse(&valid).unwrap();
    }
}
