//! What kind of thing a file is: by its name, and by its first bytes.
//!
//! A table of our own, because the usual one takes `.ts` for video and knows no configuration files,
//! and what sources serve is mostly text that such tables do not tell apart.

/// How much of a file is looked at.
pub(crate) const HEAD: u64 = 1024;

pub(crate) const TEXT: &str = "text/plain";
pub(crate) const JSON: &str = "application/json";
pub(crate) const MARKDOWN: &str = "text/markdown";
pub(crate) const BINARY: &str = "application/octet-stream";

/// The type of a file whose contents begin like this.
pub(crate) fn of(name: &[u8], head: &[u8]) -> &'static str {
    match (by_name(name), reads_as_text(head)) {
        (Some(mime), true) => mime,
        (Some(mime), false) if !is_text(mime) => mime,
        (None, true) => by_first_line(head).unwrap_or(TEXT),
        (_, false) => by_magic(head).unwrap_or(BINARY),
    }
}

/// The type that a name says.
pub(crate) fn by_name(name: &[u8]) -> Option<&'static str> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let whole = NAMES.iter().find(|(names, _)| names.contains(&&*name));
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let by_extension = || {
        let extension = extension?;
        EXTENSIONS
            .iter()
            .find(|(extensions, _)| extensions.contains(&extension))
    };
    whole.or_else(by_extension).map(|(_, mime)| *mime)
}

/// Whether files of this type are given as text, where they are UTF-8.
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

/// The text of a file, if it is one: UTF-8 without a NUL, which no text has.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if bytes.contains(&0) {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

/// Whether the beginning of a file is that of a text. A character may be cut at the end.
fn reads_as_text(head: &[u8]) -> bool {
    let is_whole = (head.len() as u64) < HEAD;
    !head.contains(&0)
        && match std::str::from_utf8(head) {
            Ok(_) => true,
            Err(error) => !is_whole && error.error_len().is_none(),
        }
}

fn by_first_line(head: &[u8]) -> Option<&'static str> {
    let starts = |with: &str| head.starts_with(with.as_bytes());
    if starts("#!") {
        let line = head.split(|byte| *byte == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        let runs = |program: &str| line.contains(program);
        return Some(match () {
            () if runs("python") => "text/x-python",
            () if runs("node") => "text/javascript",
            () if runs("sh") => "application/x-sh",
            () => TEXT,
        });
    }
    let kinds = [
        ("<?xml", "application/xml"),
        ("<!DOCTYPE html", "text/html"),
    ];
    let found = kinds.iter().find(|(with, _)| starts(with));
    found.map(|(_, mime)| *mime)
}

fn by_magic(head: &[u8]) -> Option<&'static str> {
    let in_riff = |kind: &[u8]| head.starts_with(b"RIFF") && head.get(8..12) == Some(kind);
    let found = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    match found {
        Some((_, mime)) => Some(mime),
        None if in_riff(b"WEBP") => Some("image/webp"),
        None if in_riff(b"WAVE") => Some("audio/wav"),
        None if head.get(4..8) == Some(b"ftyp") => Some("video/mp4"),
        None => None,
    }
}

const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-executable"),
    (b"\0asm", "application/wasm"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/x-icon"),
];

/// Files that are known by their whole name.
const NAMES: &[(&[&str], &str)] = &[
    (&["makefile", "gnumakefile"], "text/x-makefile"),
    (&["dockerfile", "containerfile"], "text/x-dockerfile"),
    (
        &["cargo.lock", "poetry.lock", "uv.lock"],
        "application/toml",
    ),
    (
        &["readme", "license", "copying", "authors", "changelog"],
        TEXT,
    ),
];

const EXTENSIONS: &[(&[&str], &str)] = &[
    (&["md", "markdown", "mdx"], MARKDOWN),
    (&["txt", "text", "log", "env", "lock"], TEXT),
    (&["json", "map"], JSON),
    (&["jsonl", "ndjson"], "application/jsonl"),
    (&["ipynb"], "application/x-ipynb+json"),
    (&["yaml", "yml"], "application/yaml"),
    (&["toml"], "application/toml"),
    (&["ini", "cfg", "conf", "properties"], "text/plain"),
    (&["xml", "xsd", "xsl", "plist"], "application/xml"),
    (&["svg"], "image/svg+xml"),
    (&["html", "htm"], "text/html"),
    (&["css"], "text/css"),
    (&["scss", "sass", "less"], "text/x-scss"),
    (&["csv"], "text/csv"),
    (&["tsv"], "text/tab-separated-values"),
    (&["rst"], "text/x-rst"),
    (&["tex"], "text/x-tex"),
    (&["adoc", "asciidoc"], "text/asciidoc"),
    (&["diff", "patch"], "text/x-diff"),
    (&["js", "mjs", "cjs"], "text/javascript"),
    (&["ts", "mts", "cts"], "text/x-typescript"),
    (&["jsx"], "text/jsx"),
    (&["tsx"], "text/tsx"),
    (&["vue", "svelte"], "text/html"),
    (&["rs"], "text/x-rust"),
    (&["py", "pyi"], "text/x-python"),
    (&["go"], "text/x-go"),
    (&["java"], "text/x-java"),
    (&["kt", "kts"], "text/x-kotlin"),
    (&["scala"], "text/x-scala"),
    (&["c", "h"], "text/x-c"),
    (&["cc", "cpp", "cxx", "hpp", "hh"], "text/x-c++"),
    (&["cs"], "text/x-csharp"),
    (&["swift"], "text/x-swift"),
    (&["rb"], "text/x-ruby"),
    (&["php"], "text/x-php"),
    (&["pl", "pm"], "text/x-perl"),
    (&["lua"], "text/x-lua"),
    (&["r"], "text/x-r"),
    (&["ex", "exs"], "text/x-elixir"),
    (&["hs"], "text/x-haskell"),
    (&["sql"], "application/sql"),
    (&["graphql", "gql"], "application/graphql"),
    (&["proto"], "text/x-protobuf"),
    (&["tf", "hcl"], "text/x-hcl"),
    (&["sh", "bash", "zsh"], "application/x-sh"),
    (&["ps1"], "text/x-powershell"),
    (&["bat", "cmd"], "text/x-bat"),
    (&["ics"], "text/calendar"),
    (&["vcf"], "text/vcard"),
    (&["srt"], "text/plain"),
    (&["vtt"], "text/vtt"),
    (&["eml"], "message/rfc822"),
    (&["rtf"], "application/rtf"),
    (&["pdf"], "application/pdf"),
    (&["png"], "image/png"),
    (&["jpg", "jpeg"], "image/jpeg"),
    (&["gif"], "image/gif"),
    (&["webp"], "image/webp"),
    (&["avif"], "image/avif"),
    (&["bmp"], "image/bmp"),
    (&["ico"], "image/x-icon"),
    (&["tif", "tiff"], "image/tiff"),
    (&["mp3"], "audio/mpeg"),
    (&["wav"], "audio/wav"),
    (&["ogg", "oga", "opus"], "audio/ogg"),
    (&["flac"], "audio/flac"),
    (&["m4a"], "audio/mp4"),
    (&["mp4", "m4v"], "video/mp4"),
    (&["webm"], "video/webm"),
    (&["mov"], "video/quicktime"),
    (&["woff"], "font/woff"),
    (&["woff2"], "font/woff2"),
    (&["ttf"], "font/ttf"),
    (&["otf"], "font/otf"),
    (&["zip"], "application/zip"),
    (&["gz", "tgz"], "application/gzip"),
    (&["bz2"], "application/x-bzip2"),
    (&["xz"], "application/x-xz"),
    (&["zst"], "application/zstd"),
    (&["7z"], "application/x-7z-compressed"),
    (&["tar"], "application/x-tar"),
    (&["jar"], "application/java-archive"),
    (&["wasm"], "application/wasm"),
    (&["sqlite", "sqlite3", "db"], "application/vnd.sqlite3"),
    (&["parquet"], "application/vnd.apache.parquet"),
    (
        &["docx"],
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    (
        &["xlsx"],
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    (
        &["pptx"],
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    (&["odt"], "application/vnd.oasis.opendocument.text"),
    (&["ods"], "application/vnd.oasis.opendocument.spreadsheet"),
    (&["epub"], "application/epub+zip"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_told_by_name_and_contents() {
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
            assert_eq!(of(name.as_bytes(), head), mime, "{name} {head:?}");
        }
    }

    #[test]
    fn a_character_may_be_cut_where_the_head_ends() {
        let mut head = vec![b'x'; HEAD as usize - 1];
        head.push("é".as_bytes()[0]);
        assert_eq!(of(b"a", &head), TEXT);
        head.pop();
        head[0] = 0xff;
        head.push(b'x');
        assert_eq!(of(b"a", &head), BINARY);
    }

    #[test]
    fn no_extension_is_there_twice() {
        let mut all: Vec<_> = EXTENSIONS.iter().flat_map(|(names, _)| *names).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
