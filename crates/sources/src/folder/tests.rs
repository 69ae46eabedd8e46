//! Security T32: no request reads anything outside of the folder, even if the folder is modified
//! meanwhile.

mod confinement;
mod scan;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use tempfile::TempDir;

use super::read::{ReadContents, ReadError};
use super::*;

const SECRET: &str = "secret";

/// A folder with every kind of link and special file, next to a secret.
struct TestTree {
    _parent: TempDir,
    folder: ServedFolder,
    secret: PathBuf,
}

impl TestTree {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let above = parent.path().canonicalize().unwrap();
        let secret = above.join("secret.txt");
        let top = above.join("root");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir_all(above.join("root-2")).unwrap();
        fs::create_dir_all(above.join("other")).unwrap();
        for path in [
            &secret,
            &above.join("other/c.txt"),
            &above.join("root-2/c.txt"),
        ] {
            fs::write(path, SECRET).unwrap();
        }
        for (name, text) in [("c.txt", "c"), ("a/c.txt", "ac"), ("a/b/c.txt", "abc")] {
            fs::write(top.join(name), text).unwrap();
        }
        for name in [".hidden", "ignored.txt", "a/ignored.txt"] {
            fs::write(top.join(name), SECRET).unwrap();
        }
        fs::write(top.join(".gitignore"), "ignored.txt\n").unwrap();
        let links = [
            ("file-out", "../secret.txt".into()),
            ("file-out-absolute", secret.clone()),
            ("folder-out", "../other".into()),
            ("folder-out-absolute", above.join("other")),
            ("above", "..".into()),
            ("a/climb", "../../secret.txt".into()),
            ("a/b/zigzag", "../../a/../../secret.txt".into()),
            ("beside", above.join("root-2")),
            ("machine", "/".into()),
            ("process", "/proc/self/root".into()),
            ("again", "again".into()),
            ("ping", "pong".into()),
            ("pong", "ping".into()),
            ("to-ignored", "ignored.txt".into()),
            ("to-hidden", ".hidden".into()),
            ("to-nothing", "nowhere".into()),
            ("zero", "/dev/zero".into()),
            ("in", "a/b/c.txt".into()),
            ("in-absolute", top.join("a/c.txt")),
            ("folder-in", "a/b".into()),
            ("a/up-and-in", "../c.txt".into()),
            ("a/round", "../a/b/../c.txt".into()),
            ("chain", "folder-in/../up-and-in".into()),
        ];
        for (name, target) in links {
            let target: PathBuf = target;
            symlink(target, top.join(name)).unwrap();
        }
        drop(UnixListener::bind(top.join("socket")).unwrap());
        rustix::fs::mkfifoat(rustix::fs::CWD, top.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        Self {
            _parent: parent,
            folder: ServedFolder {
                uris: UriBase::file(&top),
                root: FolderRoot::new(top),
                visibility: Visibility::new(false, true, Patterns::default(), Patterns::default()),
                max_entries: 1000,
                max_file_bytes: 1 << 20,
            },
            secret,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.root.path().join(name)
    }

    /// The text of a file, or the names of a folder's files, by URI.
    fn read_uri(&self, uri: &str) -> Result<String, ReadError> {
        let path = self.folder.uris.path(uri).ok_or(ReadError::NotFound)?;
        match self.folder.read(&path)? {
            ReadContents::File { bytes, .. } => Ok(String::from_utf8(bytes).unwrap()),
            ReadContents::Folder(listing) => {
                let files = listing.files.iter().map(|(path, _)| path.to_string());
                Ok(files.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn read(&self, path: &str) -> Result<String, ReadError> {
        self.read_uri(&format!("{}{path}", self.folder.uris.prefix()))
    }
}
