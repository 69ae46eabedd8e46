//! The lines of `.gitignore` files, and problems in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::Mutex;
use tidegate_core::truncate_for_message;

/// Further invalid lines are not logged.
const MAX_LOGGED: usize = 256;

/// The invalid lines that were logged. Files are read often, but each line is logged once.
#[derive(Debug, Default)]
pub(super) struct LoggedLines(Mutex<BTreeSet<(PathBuf, String)>>);

impl LoggedLines {
    /// Parses a file. An invalid line is ignored, as in git.
    pub(super) fn parse(&self, file: &Path, text: &[u8]) -> Gitignore {
        let mut builder = builder();
        for (line, number) in String::from_utf8_lossy(text).lines().zip(1_u64..) {
            if let Err(error) = builder.add_line(None, line) {
                self.log(file, number, line, &describe(&error));
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    fn log(&self, file: &Path, line: u64, pattern: &str, reason: &str) {
        let mut logged = self.0.lock();
        let pattern = truncate_for_message(pattern);
        if logged.len() < MAX_LOGGED && logged.insert((file.to_owned(), pattern.clone())) {
            let file = file.display();
            tracing::warn!(%file, line, pattern, reason, "invalid gitignore pattern ignored");
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().len()
    }
}

/// For patterns relative to their own folder. Unclosed brackets are errors; the library would
/// otherwise match them literally.
pub(super) fn builder() -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(".");
    builder.allow_unclosed_class(false);
    builder
}

/// The library's message without the pattern that it starts with.
pub(super) fn describe(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } if err.starts_with("unclosed character class") => {
            "unclosed bracket".to_owned()
        }
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}
