//! What is told of changes, look by look.

use std::fs;

use futures_util::{FutureExt as _, StreamExt as _};
use tempfile::TempDir;
use tidegate_core::{ChangeEvent, ChangeNotice};

use super::*;
use crate::folder::Patterns;

struct Folder {
    folder: TempDir,
    source: Files,
    changes: ChangeStream,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/a.txt"), "a").unwrap();
        let config = FilesConfig {
            root: folder.path().to_owned(),
            include_hidden: false,
            gitignore: true,
            include: Patterns::default(),
            exclude: Patterns::default(),
            max_file_bytes: 1_024,
            max_files: 100,
        };
        let source = Files::new("f", config);
        let changes = source.changes();
        let mut folder = Self {
            folder,
            source,
            changes,
        };
        folder.look();
        folder
    }

    fn uri(&self, path: &str) -> String {
        format!("{}{path}", self.source.0.base.prefix())
    }

    fn watch(&self, path: &str) -> watched::Guard {
        let (inner, uri) = (&self.source.0, self.uri(path));
        let guard = Spellings::add(&inner.spellings, &uri);
        let place = inner.base.place(&uri).unwrap();
        let found = inner.root.open(&place).ok().map(|found| found.stamp);
        inner.spellings.begin(&uri, found);
        guard
    }

    /// Looks, and gives the URIs that are told, in order, each below the folder.
    fn look(&mut self) -> Vec<String> {
        self.source.0.look();
        let mut uris = Vec::new();
        while let Some(Some(telling)) = self.changes.next().now_or_never() {
            let ChangeNotice { event, .. } = telling;
            if let ChangeEvent::Change(Change::ResourceUpdated(uri)) = event {
                uris.push(uri.replace(&self.uri(""), "./"));
            }
        }
        uris.sort();
        uris
    }
}

/// Each resource whose contents changed is told of once, whoever watches what.
#[test]
fn one_change_is_told_once() {
    let mut folder = Folder::new();
    let paths = ["", "sub", "sub/", "sub/a.txt", "sub/b.txt"];
    let _watched = paths.map(|path| folder.watch(path));
    let path = |name: &str| folder.folder.path().join(name);
    let (a, b, sub) = (path("sub/a.txt"), path("sub/b.txt"), path("sub"));
    fs::write(&a, "other").unwrap();
    assert_eq!(folder.look(), ["./sub/", "./sub/a.txt"]);
    fs::write(&b, "b").unwrap();
    assert_eq!(folder.look(), ["./sub/", "./sub/b.txt"]);
    fs::remove_file(&a).unwrap();
    assert_eq!(folder.look(), ["./sub/", "./sub/a.txt"]);
    fs::create_dir(sub.join("empty")).unwrap();
    assert_eq!(folder.look(), ["./sub/", "./sub/empty/"]);
    fs::remove_dir_all(&sub).unwrap();
    assert_eq!(
        folder.look(),
        ["./", "./sub/", "./sub/b.txt", "./sub/empty/"]
    );
    assert_eq!(folder.look(), [""; 0]);
}
