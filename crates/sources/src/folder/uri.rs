//! Between URIs and places. A URI that leads out of the folder is the URI of nothing.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use tidegate_core::{percent_decode, percent_encode_bytes};

use super::Place;

/// Longer ones are not taken apart.
const LONGEST: usize = 8 * 1024;

/// How the URIs of a folder begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// `file://`, then the folder's own path, as names.
    File(Vec<Vec<u8>>),
    /// A scheme of its own, with nothing before the place.
    Scheme(&'static str),
}

impl Base {
    /// The URIs of the files below this folder, an absolute path.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        let names = folder.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.as_bytes().to_vec()),
            _ => None,
        });
        Self::File(names.collect())
    }

    /// The URI of a place, in the one form that we write.
    pub(crate) fn uri(&self, place: &Place) -> String {
        let mut uri = self.prefix();
        for (index, name) in place.names().enumerate() {
            if index > 0 {
                uri.push('/');
            }
            uri.push_str(&percent_encode_bytes(name));
        }
        uri
    }

    /// The URI of a folder: it ends in a slash, so that what is in it is reached by adding a name.
    pub(crate) fn folder_uri(&self, place: &Place) -> String {
        let mut uri = self.uri(place);
        if !uri.ends_with('/') {
            uri.push('/');
        }
        uri
    }

    /// What all URIs begin with, up to and with a slash.
    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Scheme(scheme) => format!("{scheme}://"),
            Self::File(names) => {
                let mut uri = "file:///".to_owned();
                for name in names {
                    uri.push_str(&percent_encode_bytes(name));
                    uri.push('/');
                }
                uri
            }
        }
    }

    /// The place that a URI names, however it spells it. Each name is decoded once, after the URI
    /// has been divided: an encoded slash divides nothing, and no name is `..` in any spelling.
    pub(crate) fn place(&self, uri: &str) -> Option<Place> {
        if uri.len() > LONGEST {
            return None;
        }
        let rest = match self {
            Self::Scheme(scheme) => after_scheme(uri, scheme)?.strip_prefix("//")?,
            Self::File(_) => path_of(after_scheme(uri, "file")?)?,
        };
        // One slash at the end says that a folder is meant.
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let mut names: Vec<_> = match rest {
            "" => Vec::new(),
            rest => {
                let names = rest.split('/');
                names
                    .map(|name| percent_decode(name).into_owned())
                    .collect()
            }
        };
        if let Self::File(folder) = self {
            if !names.starts_with(folder) {
                return None;
            }
            names.drain(..folder.len());
        }
        Place::of(names.iter().map(Vec::as_slice))
    }

    /// What a template's variable stands for at this place. Not encoded, for clients do that; but a
    /// name that looks encoded is, or it would be taken for another, and so is what is no text.
    pub(crate) fn variable(place: &Place) -> String {
        let mut out = String::with_capacity(place.bytes().len());
        for chunk in place.bytes().utf8_chunks() {
            let text = chunk.valid();
            for (at, character) in text.char_indices() {
                match character {
                    '%' if begins_with_triplet(&text.as_bytes()[at..]) => out.push_str("%25"),
                    other => out.push(other),
                }
            }
            out.push_str(&percent_encode_bytes(chunk.invalid()));
        }
        out
    }
}

/// The rest of a URI of this scheme, which may be in capitals.
fn after_scheme<'a>(uri: &'a str, scheme: &str) -> Option<&'a str> {
    let (before, after) = uri.split_once(':')?;
    before.eq_ignore_ascii_case(scheme).then_some(after)
}

/// The path of a `file:` URI on this machine, without its first slash.
fn path_of(rest: &str) -> Option<&str> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, path) = rest.split_once('/')?;
            let here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            return here.then_some(path);
        }
        None => rest,
    };
    path.strip_prefix('/')
}

/// Whether text begins with a percent-encoded byte, like `%41`.
fn begins_with_triplet(text: &[u8]) -> bool {
    let is_hex = u8::is_ascii_hexdigit;
    matches!(text, [b'%', high, low, ..] if is_hex(high) && is_hex(low))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Base {
        Base::of_folder(Path::new("/srv/a b"))
    }

    fn place(uri: &str) -> Option<String> {
        base().place(uri).map(|place| place.to_string())
    }

    /// X25: a space is taken raw, and written as `%20`.
    #[test]
    fn a_place_is_found_in_every_spelling() {
        for uri in [
            "file:///srv/a%20b/c d.md",
            "file:///srv/a b/c%20d.md",
            "FILE:///srv/a%20b/c%20d.md",
            "file://localhost/srv/a%20b/c%20d.md",
            "file:/srv/a%20b/c%20d.md",
            "file:///srv/a%20b/%63%20d.md",
            "file:///srv/a%20b/c%20d.md/",
        ] {
            assert_eq!(place(uri).as_deref(), Some("c d.md"), "{uri}");
        }
        let written = base().uri(&base().place("file:///srv/a b/c d.md").unwrap());
        assert_eq!(written, "file:///srv/a%20b/c%20d.md");
        assert_eq!(place("file:///srv/a%20b").as_deref(), Some("."));
        assert_eq!(place("file:///srv/a%20b/").as_deref(), Some("."));
        assert_eq!(
            place("file:///srv/a%20b/100%.md").as_deref(),
            Some("100%.md")
        );
        assert_eq!(place("file:///srv/a%20b/a#b?c").as_deref(), Some("a#b?c"));
    }

    /// Security T32: nothing leads out, however it is spelled.
    #[test]
    fn what_leads_elsewhere_is_nothing() {
        for uri in [
            "file:///srv/a%20b/../secret",
            "file:///srv/a%20b/%2e%2e/secret",
            "file:///srv/a%20b/.%2E/secret",
            "file:///srv/a%20b/..%2fsecret",
            "file:///srv/a%20b/%2e%2e%2fsecret",
            "file:///srv/a%20b/./x",
            "file:///srv/a%20b//x",
            "file:///srv/a%20b/x%00.md",
            "file:///srv/a%20b/x\0.md",
            "file:///srv/a%20bc/x",
            "file:///srv/a",
            "file:///srv/a%2520b/x",
            "file:///srv%2Fa%20b/x",
            "file:///etc/passwd",
            "file://evil.example/srv/a%20b/x",
            "file://srv/a%20b/x",
            "file:srv/a%20b/x",
            "files:///srv/a%20b/x",
            "/srv/a b/x",
            "",
        ] {
            assert_eq!(place(uri), None, "{uri}");
        }
        // Decoded once: these are names, odd ones, of this folder.
        let twice = place("file:///srv/a%20b/%252e%252e/secret");
        assert_eq!(twice.as_deref(), Some("%2e%2e/secret"));
        let long = format!("file:///srv/a%20b/{}", "x/".repeat(5000));
        assert_eq!(place(&long), None);
    }

    proptest! {
        /// What we write leads back, for every name a file can have.
        #[test]
        fn a_uri_leads_back(names in prop::collection::vec(prop::collection::vec(1u8.., 1..20), 1..6)) {
            let Some(place) = Place::of(names.iter().map(Vec::as_slice)) else { return Ok(()) };
            for base in [base(), Base::Scheme("skill")] {
                let uri = base.uri(&place);
                prop_assert!(uri.is_ascii());
                prop_assert_eq!(base.place(&uri), Some(place.clone()));
                prop_assert_eq!(base.place(&base.folder_uri(&place)), Some(place.clone()));
            }
        }

        #[test]
        fn a_variable_leads_back(text in "[^/\0]{1,20}", bytes in prop::collection::vec(1u8.., 0..4)) {
            let name = [text.as_bytes(), &bytes, b"%41"].concat();
            let Some(place) = Place::of([name.as_slice()]) else { return Ok(()) };
            let uri = format!("{}{}", base().prefix(), Base::variable(&place));
            prop_assert_eq!(base().place(&uri), Some(place));
        }

        /// Whatever is sent is a place of plain names, or nothing.
        #[test]
        fn no_uri_climbs(path in "([.%2efF/\\\\a-c0 ]|%2e|%2f|%252e|\\.\\./){0,40}") {
            if let Some(place) = base().place(&format!("file:///srv/a%20b/{path}")) {
                for name in place.names() {
                    prop_assert!(name != b".." && name != b"." && !name.contains(&b'/') && !name.contains(&0));
                }
            }
        }
    }
}
