//! Conversion between URIs and relative paths. A URI outside of the folder has no path.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use tidegate_core::{percent_decode, percent_encode_bytes};

use super::RelativePath;

/// Longer URIs are rejected.
const MAX_URI_BYTES: usize = 8 * 1024;

/// The prefix of the URIs of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UriBase {
    /// `file://` and the folder's absolute path, as names.
    File(Vec<Vec<u8>>),
    /// A custom scheme, followed by the relative path.
    Scheme(&'static str),
}

impl UriBase {
    /// `file://` URIs below an absolute path.
    pub(crate) fn file(folder: &Path) -> Self {
        let names = folder.components().filter_map(|component| match component {
            Component::Normal(name) => Some(name.as_bytes().to_vec()),
            _ => None,
        });
        Self::File(names.collect())
    }

    /// The canonical URI of a path.
    pub(crate) fn uri(&self, path: &RelativePath) -> String {
        let mut uri = self.prefix();
        for (index, name) in path.names().enumerate() {
            if index > 0 {
                uri.push('/');
            }
            uri.push_str(&percent_encode_bytes(name));
        }
        uri
    }

    /// The canonical URI of a folder, which ends in a slash.
    pub(crate) fn folder_uri(&self, path: &RelativePath) -> String {
        let mut uri = self.uri(path);
        if !uri.ends_with('/') {
            uri.push('/');
        }
        uri
    }

    /// The prefix of all URIs, with its trailing slash.
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

    /// The path of a URI in any spelling. Names are decoded once, after splitting: an encoded slash
    /// does not separate names, and no spelling of `..` is accepted.
    pub(crate) fn path(&self, uri: &str) -> Option<RelativePath> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        let rest = match self {
            Self::Scheme(scheme) => after_scheme(uri, scheme)?.strip_prefix("//")?,
            Self::File(_) => local_path(after_scheme(uri, "file")?)?,
        };
        // A trailing slash marks a folder.
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
        RelativePath::from_names(names.iter().map(Vec::as_slice))
    }

    /// The value of the template variable for a path. It is not encoded, because clients encode
    /// it. The exceptions are text that looks encoded, which would be decoded to another name, and
    /// bytes that are not UTF-8.
    pub(crate) fn template_value(path: &RelativePath) -> String {
        let mut value = String::with_capacity(path.bytes().len());
        for chunk in path.bytes().utf8_chunks() {
            let text = chunk.valid();
            for (at, character) in text.char_indices() {
                match character {
                    '%' if starts_with_percent_code(&text.as_bytes()[at..]) => {
                        value.push_str("%25");
                    }
                    other => value.push(other),
                }
            }
            value.push_str(&percent_encode_bytes(chunk.invalid()));
        }
        value
    }
}

/// The part after the scheme, which is case-insensitive.
fn after_scheme<'a>(uri: &'a str, scheme: &str) -> Option<&'a str> {
    let (before, after) = uri.split_once(':')?;
    before.eq_ignore_ascii_case(scheme).then_some(after)
}

/// The path of a `file:` URI on this machine, without the leading slash.
fn local_path(rest: &str) -> Option<&str> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, path) = rest.split_once('/')?;
            let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            return is_local.then_some(path);
        }
        None => rest,
    };
    path.strip_prefix('/')
}

/// Whether text starts with a percent-encoded byte, such as `%41`.
fn starts_with_percent_code(text: &[u8]) -> bool {
    let is_hex = u8::is_ascii_hexdigit;
    matches!(text, [b'%', high, low, ..] if is_hex(high) && is_hex(low))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn uris() -> UriBase {
        UriBase::file(Path::new("/srv/a b"))
    }

    fn path(uri: &str) -> Option<String> {
        uris().path(uri).map(|path| path.to_string())
    }

    /// X25: a raw space is accepted, and written as `%20`.
    #[test]
    fn accepts_every_spelling_of_a_path() {
        for uri in [
            "file:///srv/a%20b/c d.md",
            "file:///srv/a b/c%20d.md",
            "FILE:///srv/a%20b/c%20d.md",
            "file://localhost/srv/a%20b/c%20d.md",
            "file:/srv/a%20b/c%20d.md",
            "file:///srv/a%20b/%63%20d.md",
            "file:///srv/a%20b/c%20d.md/",
        ] {
            assert_eq!(path(uri).as_deref(), Some("c d.md"), "{uri}");
        }
        let canonical = uris().uri(&uris().path("file:///srv/a b/c d.md").unwrap());
        assert_eq!(canonical, "file:///srv/a%20b/c%20d.md");
        assert_eq!(path("file:///srv/a%20b").as_deref(), Some("."));
        assert_eq!(path("file:///srv/a%20b/").as_deref(), Some("."));
        assert_eq!(
            path("file:///srv/a%20b/100%.md").as_deref(),
            Some("100%.md")
        );
        assert_eq!(path("file:///srv/a%20b/a#b?c").as_deref(), Some("a#b?c"));
    }

    /// Security T32: no spelling leaves the folder.
    #[test]
    fn rejects_uris_outside_of_the_folder() {
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
            assert_eq!(path(uri), None, "{uri}");
        }
        // Decoded once: these are unusual names inside the folder.
        let encoded_twice = path("file:///srv/a%20b/%252e%252e/secret");
        assert_eq!(encoded_twice.as_deref(), Some("%2e%2e/secret"));
        let long = format!("file:///srv/a%20b/{}", "x/".repeat(5000));
        assert_eq!(path(&long), None);
    }

    proptest! {
        /// For every name that a file can have.
        #[test]
        fn round_trips_uris(names in prop::collection::vec(prop::collection::vec(1u8.., 1..20), 1..6)) {
            let Some(path) = RelativePath::from_names(names.iter().map(Vec::as_slice)) else { return Ok(()) };
            for uris in [uris(), UriBase::Scheme("skill")] {
                let uri = uris.uri(&path);
                prop_assert!(uri.is_ascii());
                prop_assert_eq!(uris.path(&uri), Some(path.clone()));
                prop_assert_eq!(uris.path(&uris.folder_uri(&path)), Some(path.clone()));
            }
        }

        #[test]
        fn round_trips_template_values(text in "[^/\0]{1,20}", bytes in prop::collection::vec(1u8.., 0..4)) {
            let name = [text.as_bytes(), &bytes, b"%41"].concat();
            let Some(path) = RelativePath::from_names([name.as_slice()]) else { return Ok(()) };
            let uri = format!("{}{}", uris().prefix(), UriBase::template_value(&path));
            prop_assert_eq!(uris().path(&uri), Some(path));
        }

        /// Every accepted URI consists of plain names.
        #[test]
        fn no_uri_leaves_the_folder(text in "([.%2efF/\\\\a-c0 ]|%2e|%2f|%252e|\\.\\./){0,40}") {
            if let Some(path) = uris().path(&format!("file:///srv/a%20b/{text}")) {
                for name in path.names() {
                    prop_assert!(name != b".." && name != b"." && !name.contains(&b'/') && !name.contains(&0));
                }
            }
        }
    }
}
