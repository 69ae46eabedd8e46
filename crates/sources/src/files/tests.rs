//! The changes that each scan announces.

use std::fs;

use futures_util::{FutureExt as _, StreamExt as _};
use tempfile::TempDir;
use tidegate_core::{Change, ChangeEvent, ChangeNotice, ChangeStream, Source as _};

use super::subscribed_uris::SubscriptionGuard;
use super::*;
use crate::folder::Patterns;

struct TestFolder {
    folder: TempDir,
    source: Files,
    changes: ChangeStream,
}

impl TestFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/a.txt"), "a").unwrap();
        let config = FilesConfig {
            folder: folder.path().to_owned(),
            include_hidden: false,
            gitignore: true,
            include: Patterns::default(),
            exclude: Patterns::default(),
            max_file_bytes: 1_024,
            max_files: 100,
        };
        let source = build("f", config);
        let changes = source.changes();
        let mut folder = Self {
            folder,
            source,
            changes,
        };
        folder.rescan();
        folder
    }

    fn uri(&self, path: &str) -> String {
        format!("{}{path}", self.source.0.folder.uris.prefix())
    }

    fn subscribe(&self, path: &str) -> SubscriptionGuard {
        let (files, uri) = (&self.source.0, self.uri(path));
        let guard = SubscribedUris::add(&files.view.subscribed, &uri);
        let path = files.folder.uris.path(&uri).unwrap();
        let stamp = files.folder.root.stamp(&path);
        files.view.subscribed.record_initial(&uri, stamp);
        guard
    }

    /// Rescans. Returns the updated URIs relative to the folder, sorted.
    fn rescan(&mut self) -> Vec<String> {
        self.source.0.rescan();
        let mut uris = Vec::new();
        while let Some(Some(notice)) = self.changes.next().now_or_never() {
            let ChangeNotice { event, .. } = notice;
            if let ChangeEvent::Change(Change::ResourceUpdated(uri)) = event {
                uris.push(uri.replace(&self.uri(""), "./"));
            }
        }
        uris.sort();
        uris
    }
}

/// With subscriptions to a file, to folders and to different spellings.
#[test]
fn announces_each_changed_resource_once() {
    let mut folder = TestFolder::new();
    let paths = ["", "sub", "sub/", "sub/a.txt", "sub/b.txt"];
    let _subscriptions = paths.map(|path| folder.subscribe(path));
    let path = |name: &str| folder.folder.path().join(name);
    let (a, b, sub) = (path("sub/a.txt"), path("sub/b.txt"), path("sub"));
    fs::write(&a, "other").unwrap();
    assert_eq!(folder.rescan(), ["./sub/", "./sub/a.txt"]);
    fs::write(&b, "b").unwrap();
    assert_eq!(folder.rescan(), ["./sub/", "./sub/b.txt"]);
    fs::remove_file(&a).unwrap();
    assert_eq!(folder.rescan(), ["./sub/", "./sub/a.txt"]);
    fs::create_dir(sub.join("empty")).unwrap();
    assert_eq!(folder.rescan(), ["./sub/", "./sub/empty/"]);
    fs::remove_dir_all(&sub).unwrap();
    assert_eq!(
        folder.rescan(),
        ["./", "./sub/", "./sub/b.txt", "./sub/empty/"]
    );
    assert_eq!(folder.rescan(), [""; 0]);
}

#[tokio::test]
async fn files_over_the_limit_are_reported_and_have_no_uri_in_their_folder() {
    let mut folder = TestFolder::new();
    fs::write(folder.folder.path().join("sub/big.bin"), vec![b'x'; 2_048]).unwrap();
    folder.rescan();
    let catalog = folder.source.0.catalog();
    let Some(tidegate_core::CatalogGap::Unavailable(gap)) = &catalog.gap else {
        panic!("{:?}", catalog.gap);
    };
    assert!(gap.contains("1 files have more than 1024 bytes"), "{gap}");
    assert!(gap.contains("sub/big.bin"), "{gap}");
    assert!(matches!(
        folder.source.0.health(),
        tidegate_core::Health::Warning(_)
    ));

    let uri = folder.uri("sub/");
    let path = folder.source.0.folder.uris.path(&uri).unwrap();
    let read = Arc::clone(&folder.source.0).read(&uri, path).await.unwrap();
    let Reply::Done(tidegate_core::Outcome::Complete { result, .. }) = read else {
        panic!("a folder is read at once");
    };
    let result: serde_json::Value = result.read().unwrap();
    let listing = result["contents"][0]["text"].as_str().unwrap();
    let listing: serde_json::Value = serde_json::from_str(listing).unwrap();
    let entry = |name: &str| {
        let mut entries = listing["entries"].as_array().unwrap().iter();
        entries.find(|entry| entry["name"] == name).unwrap().clone()
    };
    assert_eq!(entry("a.txt")["uri"], folder.uri("sub/a.txt"));
    assert_eq!(entry("big.bin")["size"], 2_048);
    assert!(entry("big.bin").get("uri").is_none());
}
