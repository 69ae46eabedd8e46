//! The MIME type of a file, by its name and its first bytes.
//!
//! Own tables because `mime_guess` maps `.ts` to video, and knows few types of source code and
//! configuration, which are most of the served files.

mod table;

use table::{EXTENSIONS, NAMES, SIGNATURES};

/// The number of bytes that are inspected.
pub(crate) const HEAD_BYTES: u64 = 1024;

pub(crate) const TEXT: &str = "text/plain";
pub(crate) const JSON: &str = "application/json";
pub(crate) const MARKDOWN: &str = "text/markdown";
pub(crate) const BINARY: &str = "application/octet-stream";

/// The type of a file with this name and these first bytes.
pub(crate) fn detect(name: &[u8], head: &[u8]) -> &'static str {
    match (by_name(name), looks_like_text(head)) {
        (Some(mime), true) => mime,
        (Some(mime), false) if !is_text(mime) => mime,
        (None, true) => by_first_line(head).unwrap_or(TEXT),
        (_, false) => by_signature(head).unwrap_or(BINARY),
    }
}

/// The type by file name or extension.
pub(crate) fn by_name(name: &[u8]) -> Option<&'static str> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let by_name = NAMES.iter().find(|(names, _)| names.contains(&&*name));
    let by_extension = || {
        let (_, extension) = name.rsplit_once('.')?;
        EXTENSIONS
            .iter()
            .find(|(extensions, _)| extensions.contains(&extension))
    };
    by_name.or_else(by_extension).map(|(_, mime)| *mime)
}

/// Whether files of this type are returned as text if they are UTF-8.
pub(crate) fn is_text(mime: &str) -> bool {
    mime.starts_with("text/")
        || mime.ends_with("+xml")
        || matches!(
            mime,
            JSON | "application/xml"
                | "application/yaml"
                | "application/toml"
                | "application/javascript"
                | "application/sql"
                | "application/x-sh"
                | "application/jsonl"
                | "application/x-ipynb+json"
                | "application/graphql"
                | "application/rtf"
        )
}

/// Converts bytes to text if they are UTF-8 without NUL.
pub(crate) fn into_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if bytes.contains(&0) {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

/// Whether the first bytes are UTF-8 without NUL. The last character may be incomplete.
fn looks_like_text(head: &[u8]) -> bool {
    let is_whole_file = (head.len() as u64) < HEAD_BYTES;
    !head.contains(&0)
        && match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(error) => !is_whole_file && error.error_len().is_none(),
        }
}

fn by_first_line(head: &[u8]) -> Option<&'static str> {
    let starts_with = |prefix: &str| head.starts_with(prefix.as_bytes());
    if starts_with("#!") {
        let line = head.split(|byte| *byte == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        return Some(match () {
            () if line.contains("python") => "text/x-python",
            () if line.contains("node") => "text/javascript",
            () if line.contains("sh") => "application/x-sh",
            () => TEXT,
        });
    }
    match () {
        () if starts_with("<?xml") => Some("application/xml"),
        () if starts_with("<!DOCTYPE html") => Some("text/html"),
        () => None,
    }
}

fn by_signature(head: &[u8]) -> Option<&'static str> {
    let is_riff = |format: &[u8]| head.starts_with(b"RIFF") && head.get(8..12) == Some(format);
    let mut signatures = SIGNATURES.iter();
    match signatures.find(|(signature, _)| head.starts_with(signature)) {
        Some((_, mime)) => Some(mime),
        None if is_riff(b"WEBP") => Some("image/webp"),
        None if is_riff(b"WAVE") => Some("audio/wav"),
        None if head.get(4..8) == Some(b"ftyp") => Some("video/mp4"),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_types_by_name_and_contents() {
        for (name, head, mime) in [
            ("a.md", "# x".as_bytes(), "text/markdown"),
            ("A.MD", b"", "text/markdown"),
            ("a.ts", b"let x", "text/x-typescript"),
            ("a.ts", b"\x47\x40\0\x10", BINARY),
            ("a.txt", b"caf\xe9\n", BINARY),
            ("a.png", b"", "image/png"),
            ("picture", b"\x89PNG\r\n\x1a\n\0", "image/png"),
            ("notes", b"hello", TEXT),
            ("run", b"#!/usr/bin/env python3\n", "text/x-python"),
            ("run", b"#!/bin/sh\n", "application/x-sh"),
            ("thing", b"\0\x01\x02", BINARY),
            ("Makefile", b"all:\n", "text/x-makefile"),
            ("a.unknown", b"x", TEXT),
            ("x.webp", b"RIFF\0\0\0\0WEBP", "image/webp"),
            ("x", b"RIFF\0\0\0\0WEBP", "image/webp"),
            ("data.json", b"{}", "application/json"),
        ] {
            assert_eq!(detect(name.as_bytes(), head), mime, "{name} {head:?}");
        }
    }

    #[test]
    fn accepts_an_incomplete_character_at_the_end_of_the_head() {
        let mut head = vec![b'x'; HEAD_BYTES as usize - 1];
        head.push("é".as_bytes()[0]);
        assert_eq!(detect(b"a", &head), TEXT);
        head.pop();
        head[0] = 0xff;
        head.push(b'x');
        assert_eq!(detect(b"a", &head), BINARY);
    }

    #[test]
    fn lists_each_extension_once() {
        let mut extensions: Vec<_> = EXTENSIONS.iter().flat_map(|(names, _)| *names).collect();
        let count = extensions.len();
        extensions.sort();
        extensions.dedup();
        assert_eq!(extensions.len(), count);
    }
}
