//! Folders as sources: files, prompts and skills.

mod changes;
mod files;
mod peers;
mod prompts;
mod walk;

use std::fs;
use std::path::Path;

use crate::support::{Home, Server};

/// One source of each kind.
const CONFIG: &str = "\
sources:
  notes: { kind: files, folder: notes, max_file_bytes: 1KiB }
  team: { kind: prompts, folder: team }
";

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";

const REVIEW: &str = "\
---
title: Review code
description: Reviews code.
arguments:
  - name: language
    type: enum
    values: [rust, go]
    required: true
  - name: depth
    type: integer
    default: 2
---
Review this {{language}} code to depth {{depth}}.
";

const SKILL: &str = "\
---
name: pdf
description: Reads PDF files.
---
# PDF

See [forms](forms.md).
";

/// A home with all kinds of files in its folders.
fn home() -> Home {
    home_with(CONFIG)
}

fn home_with(config: &str) -> Home {
    let home = Home::with_config(config);
    for (name, bytes) in [
        ("notes/readme.md", "# Notes\n".as_bytes()),
        ("notes/deep/er/a b.txt", b"deep\n"),
        ("notes/picture.png", PNG),
        ("notes/caf\u{e9}.txt", b"caf\xe9\n"),
        ("notes/empty", b""),
        ("notes/.gitignore", b"*.log\n/private/\n"),
        ("notes/.env", b"SECRET"),
        ("notes/run.log", b"SECRET"),
        ("notes/private/x.md", b"SECRET"),
        ("outside.txt", b"SECRET"),
        ("team/review.md", REVIEW.as_bytes()),
        ("team/skills/pdf/SKILL.md", SKILL.as_bytes()),
        ("team/skills/pdf/forms.md", b"# Forms\n"),
        ("team/README.md", b"# For people\n"),
    ] {
        write(&home, name, bytes);
    }
    std::os::unix::fs::symlink("deep/er/a b.txt", home.path().join("notes/link.txt")).unwrap();
    std::os::unix::fs::symlink("../outside.txt", home.path().join("notes/out.txt")).unwrap();
    home
}

fn write(home: &Home, name: &str, bytes: &[u8]) {
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn start() -> Server {
    Server::start_in(home(), &[])
}

/// The URI of a file in the home.
fn uri(home: &Path, path: &str) -> String {
    format!("file://{}/{path}", home.display())
}
