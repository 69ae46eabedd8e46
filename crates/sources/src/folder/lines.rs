//! The lines of files of rules, and what is wrong with them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::Mutex;
use tidegate_core::truncate_for_message;

/// More bad lines than this are nobody's slips, and not told.
const MOST_TOLD: usize = 256;

/// The lines that were said to be no patterns: rules are read often, and each is said once.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<BTreeSet<(PathBuf, String)>>);

impl Told {
    /// A line that is no pattern is left out, as git does.
    pub(super) fn matcher(&self, file: &Path, text: &[u8]) -> Gitignore {
        let mut builder = builder();
        for (line, number) in String::from_utf8_lossy(text).lines().zip(1_u64..) {
            if let Err(error) = builder.add_line(None, line) {
                self.tell(file, number, line, &why(&error));
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    fn tell(&self, file: &Path, line: u64, pattern: &str, why: &str) {
        let mut told = self.0.lock();
        let pattern = truncate_for_message(pattern);
        if told.len() < MOST_TOLD && told.insert((file.to_owned(), pattern.clone())) {
            let file = file.display();
            tracing::warn!(%file, line, pattern, why, "a line is no pattern, and hides nothing");
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().len()
    }
}

/// For patterns that are relative to where they are written. A bracket must be closed: where it is
/// not, the library would take it for itself.
pub(super) fn builder() -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(".");
    builder.allow_unclosed_class(false);
    builder
}

/// What is wrong with a line that git reads over, where it is meant to be a pattern.
pub(super) fn defect(pattern: &str) -> Option<&'static str> {
    match pattern {
        blank if blank.trim().is_empty() => Some("it is empty"),
        comment if comment.starts_with('#') => {
            Some("it is a comment; a name that begins with `#` is written with `\\#`")
        }
        _ => None,
    }
}

/// The last part of what the library says: the first is the pattern again.
pub(super) fn why(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } if err.starts_with("unclosed character class") => {
            "a bracket is not closed".to_owned()
        }
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}
