//! The data that servers work on: files, a repository, a memory. It can be recreated, so that each
//! run of a script finds the same.

use std::fs;
use std::path::PathBuf;

use crate::support::{Home, Running};

/// Fixed, so that commits have the same hashes every time.
pub(super) const GIT: [(&str, &str); 7] = [
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.com"),
    ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05+0000"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.com"),
    ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05+0000"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// An image of one pixel.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06";

pub(super) fn files(home: &Home) -> PathBuf {
    home.path().join("files")
}

/// Another folder, which a client offers as a root.
pub(super) fn other_files(home: &Home) -> PathBuf {
    home.path().join("other-files")
}

pub(super) fn repository(home: &Home) -> PathBuf {
    home.path().join("repository")
}

pub(super) fn memory(home: &Home) -> PathBuf {
    home.path().join("memory.jsonl")
}

/// Removes everything in the home folder, and creates the files and the repository again.
pub(super) fn recreate(home: &Home) {
    empty(home.path().to_owned());
    create_files(home);
    create_repository(home);
}

pub(super) fn create_files(home: &Home) {
    let folder = empty(files(home));
    fs::create_dir(folder.join("logs")).unwrap();
    fs::write(
        folder.join("tides.txt"),
        "dover 6.8\nbrest 7.4\nsaint-malo 12.2\n",
    )
    .unwrap();
    fs::write(folder.join("logs/monday.md"), "# Monday\n\nCalm.\n").unwrap();
    fs::write(folder.join("dot.png"), DOT).unwrap();
    let other = empty(other_files(home));
    fs::write(other.join("other.txt"), "elsewhere").unwrap();
}

pub(super) fn create_repository(home: &Home) {
    let folder = empty(repository(home));
    git(home, &["init", "--quiet", "--initial-branch", "main"]);
    fs::write(folder.join("tides.txt"), "dover 6.8\n").unwrap();
    git(home, &["add", "."]);
    git(home, &["commit", "--quiet", "--message", "the first tide"]);
    git(home, &["branch", "spring"]);
    fs::write(folder.join("tides.txt"), "dover 6.8\nbrest 7.4\n").unwrap();
}

pub(super) fn create_memory(home: &Home) {
    let known = r#"{"type":"entity","name":"dover","entityType":"port","observations":["white"]}"#;
    fs::write(memory(home), known).unwrap();
}

fn git(home: &Home, args: &[&str]) {
    let mut command = home.command("git");
    command.args(args).envs(GIT).current_dir(repository(home));
    Running::start(&mut command).end().expect_code(0);
}

/// Empties the folder without replacing it, because a server may have it open.
fn empty(folder: PathBuf) -> PathBuf {
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    folder
}
