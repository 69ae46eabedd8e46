//! The environment a configuration is loaded in: variables and the working directory. Tests pass
//! their own.

use std::path::{Component, Path, PathBuf};

type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Environment variables and the folder that relative paths of the command line start at.
pub struct Environment<'a> {
    variables: Box<Variables<'a>>,
    folder: PathBuf,
}

impl<'a> Environment<'a> {
    pub fn new(
        variables: impl Fn(&str) -> Option<String> + 'a,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self {
            variables: Box::new(variables),
            folder: folder.into(),
        }
    }

    /// The environment of this process.
    pub fn process() -> Self {
        // An empty folder keeps relative paths in messages as the user wrote them.
        Self::new(|name| std::env::var(name).ok(), "")
    }

    /// The value of a variable. An empty value counts as unset, because scripts unset variables that
    /// way.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    /// The working directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// The absolute, normalized form of a path in the configuration file. Relative paths start at
    /// `base`; a leading `~` is the home directory, because no shell expands it here.
    pub fn absolute(&self, path: &Path, base: &Path) -> PathBuf {
        let below_home = path.strip_prefix("~").ok();
        let expanded = below_home.and_then(|below| Some(self.home()?.join(below)));
        let path = self
            .folder
            .join(expanded.unwrap_or_else(|| base.join(path)));
        normalize(&std::path::absolute(&path).unwrap_or(path))
    }
}

/// Removes `.` and `..` textually. Symbolic links are not followed: URIs show the names as written.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normalized.pop();
            }
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_base_or_at_home() {
        let variables = |name: &str| (name == "HOME").then(|| "/home/ada".to_owned());
        let environment = Environment::new(variables, "/work");
        for (path, expected) in [
            ("docs", "/work/etc/docs"),
            ("./a/../b", "/work/etc/b"),
            ("/abs/./x", "/abs/x"),
            ("~", "/home/ada"),
            ("~/notes", "/home/ada/notes"),
        ] {
            let absolute = environment.absolute(Path::new(path), Path::new("etc"));
            assert_eq!(absolute, Path::new(expected), "{path}");
        }
    }
}
