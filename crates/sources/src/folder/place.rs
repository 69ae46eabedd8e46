//! Where something lies below a folder, as names from the folder down. No place leads upwards: that
//! cannot be written.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What systems take as the name of a file, and as a whole path.
const LONGEST_NAME: usize = 255;
const LONGEST: usize = 4096;
/// Deeper than any folder that people made.
const DEEPEST: usize = 128;

/// A place below a folder; the empty one is the folder itself. The names are joined with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place(Vec<u8>);

impl Place {
    /// The folder itself.
    pub(crate) fn top() -> Self {
        Self::default()
    }

    /// A place by its names; none if one of them is not the name of a file.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        names
            .into_iter()
            .try_fold(Self::top(), |place, name| place.join(name))
    }

    /// What is called `name` in this folder.
    pub(crate) fn join(&self, name: &[u8]) -> Option<Self> {
        let length = self.0.len() + 1 + name.len();
        if !is_name(name) || length > LONGEST || self.names().count() == DEEPEST {
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

    /// Its own name; the folder itself has none here.
    pub(crate) fn name(&self) -> Option<&[u8]> {
        self.names().next_back()
    }

    /// The folder that holds it.
    pub(crate) fn parent(&self) -> Option<Self> {
        let name = self.name()?;
        let end = self.0.len() - name.len();
        Some(Self(self.0[..end.saturating_sub(1)].to_vec()))
    }

    /// Itself and every folder above it, from the top down.
    pub(crate) fn way(&self) -> impl Iterator<Item = Self> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends = ends.map(|(at, _)| at).chain([self.0.len()]);
        let whole = ends.map(|end| Self(self.0[..end].to_vec()));
        std::iter::once(Self::top()).chain(whole.filter(|place| !place.is_top()))
    }

    pub(crate) fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }
}

/// For people; what is no text is shown as something else.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_top() {
            true => f.write_str("."),
            false => f.write_str(&String::from_utf8_lossy(&self.0)),
        }
    }
}

fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= LONGEST_NAME
        && !name.iter().any(|byte| matches!(byte, b'/' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Option<Place> {
        Place::of(text.split('/').map(str::as_bytes))
    }

    #[test]
    fn a_place_is_made_of_names_alone() {
        let long = "x".repeat(256);
        let deep = vec!["d"; 129].join("/");
        for text in ["", "..", "a/..", "./a", "a//b", "a/", "a\0b", &long, &deep] {
            assert_eq!(place(text), None, "{text}");
        }
        for text in ["a", "a/b.c", "...", "a b/ü", "a\\b", "..a/b.."] {
            assert_eq!(place(text).unwrap().bytes(), text.as_bytes());
        }
    }

    #[test]
    fn the_way_to_a_place_begins_at_the_top() {
        let all = |text| {
            place(text)
                .unwrap()
                .way()
                .map(|place| place.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(all("a/b/c"), [".", "a", "a/b", "a/b/c"]);
        assert_eq!(Place::top().way().count(), 1);
        assert_eq!(place("a/b").unwrap().parent(), place("a"));
        assert_eq!(place("a").unwrap().parent(), Some(Place::top()));
        assert_eq!(Place::top().parent(), None);
    }
}
