//! A path below a folder, as a list of names. It cannot express `..`, so it never leaves the folder.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Limits of common file systems.
const MAX_NAME_BYTES: usize = 255;
pub(super) const MAX_PATH_BYTES: usize = 4096;
pub(super) const MAX_DEPTH: usize = 128;

/// Names joined with `/`; the empty path is the folder itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RelativePath(Vec<u8>);

impl RelativePath {
    /// The folder itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// `None` if a name is not a valid file name.
    pub(crate) fn from_names<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        names
            .into_iter()
            .try_fold(Self::root(), |path, name| path.join(name))
    }

    pub(crate) fn join(&self, name: &[u8]) -> Option<Self> {
        let length = self.0.len() + 1 + name.len();
        if !is_file_name(name) || length > MAX_PATH_BYTES || self.names().count() == MAX_DEPTH {
            return None;
        }
        let mut joined = Vec::with_capacity(length);
        joined.extend(&self.0);
        if !joined.is_empty() {
            joined.push(b'/');
        }
        joined.extend(name);
        Some(Self(joined))
    }

    /// From the top down.
    pub(crate) fn names(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
    }

    /// The last name; `None` for the folder itself.
    pub(crate) fn name(&self) -> Option<&[u8]> {
        self.names().next_back()
    }

    pub(crate) fn parent(&self) -> Option<Self> {
        let name = self.name()?;
        let end = self.0.len() - name.len();
        Some(Self(self.0[..end.saturating_sub(1)].to_vec()))
    }

    /// The path and all paths above it, from the top down.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = Self> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends = ends.map(|(at, _)| at).chain([self.0.len()]);
        let prefixes = ends.map(|end| Self(self.0[..end].to_vec()));
        std::iter::once(Self::root()).chain(prefixes.filter(|path| !path.is_root()))
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

/// Lossy where a name is not UTF-8.
impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_root() {
            true => f.write_str("."),
            false => f.write_str(&String::from_utf8_lossy(&self.0)),
        }
    }
}

fn is_file_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= MAX_NAME_BYTES
        && !name.iter().any(|byte| matches!(byte, b'/' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Option<RelativePath> {
        RelativePath::from_names(text.split('/').map(str::as_bytes))
    }

    #[test]
    fn accepts_only_plain_file_names() {
        let long = "x".repeat(256);
        let deep = vec!["d"; 129].join("/");
        for text in ["", "..", "a/..", "./a", "a//b", "a/", "a\0b", &long, &deep] {
            assert_eq!(path(text), None, "{text}");
        }
        for text in ["a", "a/b.c", "...", "a b/ü", "a\\b", "..a/b.."] {
            assert_eq!(path(text).unwrap().bytes(), text.as_bytes());
        }
    }

    #[test]
    fn lists_its_prefixes_from_the_top() {
        let path_c = path("a/b/c").unwrap();
        let prefixes: Vec<_> = path_c.prefixes().map(|prefix| prefix.to_string()).collect();
        assert_eq!(prefixes, [".", "a", "a/b", "a/b/c"]);
        assert_eq!(RelativePath::root().prefixes().count(), 1);
        assert_eq!(path("a/b").unwrap().parent(), path("a"));
        assert_eq!(path("a").unwrap().parent(), Some(RelativePath::root()));
        assert_eq!(RelativePath::root().parent(), None);
    }
}
