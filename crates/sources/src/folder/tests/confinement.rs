//! Links, special files, hostile URIs and concurrent replacement.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;

use super::super::read::ReadError;
use super::{SECRET, TestTree};

#[test]
fn follows_links_inside_the_folder() {
    let tree = TestTree::new();
    for (path, text) in [
        ("in", "abc"),
        ("in-absolute", "ac"),
        ("folder-in/c.txt", "abc"),
        ("a/up-and-in", "c"),
        ("a/round", "ac"),
        ("chain", "c"),
    ] {
        assert_eq!(tree.read(path).unwrap(), text, "{path}");
    }
}

#[test]
fn does_not_find_anything_else() {
    let tree = TestTree::new();
    for path in [
        "file-out",
        "file-out-absolute",
        "folder-out",
        "folder-out/c.txt",
        "folder-out-absolute/c.txt",
        "above/secret.txt",
        "above/root/c.txt",
        "a/climb",
        "a/b/zigzag",
        "beside/c.txt",
        "machine/etc/passwd",
        "process/etc/passwd",
        "again",
        "ping",
        "to-ignored",
        "to-hidden",
        "to-nothing",
        "zero",
        "pipe",
        "socket",
        ".hidden",
        "ignored.txt",
        "a/ignored.txt",
        ".gitignore",
        "c.txt/x",
        "nowhere",
    ] {
        let read = tree.read(path);
        assert!(matches!(read, Err(ReadError::NotFound)), "{path}");
    }
}

/// Path segments that try to leave the folder, in various encodings.
fn segment() -> impl Strategy<Value = String> {
    let names = [
        "a",
        "b",
        "c.txt",
        "..",
        ".",
        "",
        "above",
        "folder-out",
        "file-out",
        "secret.txt",
        "root",
        "machine",
        "process",
        "beside",
        "%2e%2e",
        "%2e%2e%2f",
        "..%2fsecret.txt",
        "%252e%252e",
        "%00",
        "a\\..\\..",
        "..\\secret.txt",
        "climb",
        "zigzag",
        "other",
        "ignored.txt",
        "to-ignored",
        "．．",
        "c.txt%00",
        "~",
        "folder-in",
        "%c0%ae%c0%ae",
        "..;",
        ".. ",
        "folder-out-absolute",
    ];
    prop_oneof![
        9 => prop::sample::select(names.to_vec()).prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No URI reads anything outside of the folder.
    #[test]
    fn no_uri_leaves_the_folder(
        head in prop::sample::select(vec!["", "file://", "file:///", "FILE://localhost", "file:", "file://host"]),
        within in any::<bool>(),
        segments in prop::collection::vec(segment(), 0..6),
    ) {
        thread_local!(static TREE: TestTree = TestTree::new());
        TREE.with(|tree| {
            let path = segments.join("/");
            let uri = match within {
                true => format!("{}{path}", tree.folder.uris.prefix()),
                false => format!("{head}{}/{path}", tree.secret.parent().unwrap().display()),
            };
            if let Ok(text) = tree.read_uri(&uri) {
                prop_assert!(!text.contains(SECRET), "{uri}");
            }
            Ok(())
        })?;
    }
}

/// Swaps two names until `stop` is set.
fn swap(first: &Path, second: &Path, stop: &AtomicBool) {
    let temporary = first.with_extension("temporary");
    while !stop.load(Ordering::Relaxed) {
        fs::rename(first, &temporary).unwrap();
        fs::rename(second, first).unwrap();
        fs::rename(&temporary, second).unwrap();
    }
}

/// Sets `stop`, also when the test fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file, and a folder in the path of another, are continually replaced by links that leave the
/// folder.
#[test]
fn never_follows_a_link_that_replaces_an_entry() {
    let tree = TestTree::new();
    let top = tree.folder.root.path();
    for name in ["file", "folder"] {
        fs::create_dir_all(top.join(name)).unwrap();
    }
    fs::write(top.join("file/now"), "fine").unwrap();
    symlink(&tree.secret, top.join("file/then")).unwrap();
    fs::create_dir(top.join("folder/now")).unwrap();
    fs::write(top.join("folder/now/c.txt"), "fine").unwrap();
    symlink("../../other", top.join("folder/then")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut read, mut not_found) = (0, 0);
    thread::scope(|scope| {
        for name in ["file", "folder"] {
            let (now, then) = (top.join(name).join("now"), top.join(name).join("then"));
            let stop = &stop;
            scope.spawn(move || swap(&now, &then, stop));
        }
        let _stop = StopOnDrop(&stop);
        for _ in 0..10_000 {
            for path in ["file/now", "folder/now/c.txt"] {
                match tree.read(path) {
                    Ok(text) => {
                        assert_eq!(text, "fine");
                        read += 1;
                    }
                    Err(_) => not_found += 1,
                }
            }
        }
    });
    assert!(
        read > 0 && not_found > 0,
        "{read} {not_found}: nothing was swapped"
    );
}
