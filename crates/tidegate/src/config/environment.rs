//! What surrounds the program: its variables and its folder, handed in so that tests choose them.
//!
//! The only place of the configuration that touches the process.

use std::path::{Path, PathBuf};

type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The environment a configuration is loaded in.
pub struct Environment<'a> {
    variables: Box<Variables<'a>>,
    folder: PathBuf,
}

impl<'a> Environment<'a> {
    /// These variables, seen from this folder.
    pub fn new(
        variables: impl Fn(&str) -> Option<String> + 'a,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            variables: Box::new(variables),
            folder: folder.into(),
        }
    }

    /// Those of this process.
    pub fn process() -> Self {
        // An empty folder keeps relative paths as they were written, for the messages.
        Self::new(|name| std::env::var(name).ok(), "")
    }

    /// A variable, unless it is not set or empty: an empty one is how scripts unset it.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}
