//! Scanning and reading.

use std::fs;

use super::super::FolderTree;
use super::super::read::ReadError;
use super::{SECRET, TestTree};

#[test]
fn lists_exactly_the_readable_files() {
    let tree = TestTree::new();
    let scanned = tree.folder.scan(&FolderTree::default()).unwrap();
    let names: Vec<_> = scanned.files.keys().map(ToString::to_string).collect();
    let expected = [
        "a/b/c.txt",
        "a/c.txt",
        "a/round",
        "a/up-and-in",
        "c.txt",
        "chain",
        "in",
        "in-absolute",
    ];
    assert_eq!(names, expected);
    for name in names {
        assert!(!tree.read(&name).unwrap().contains(SECRET));
    }
}

#[test]
fn the_limit_cuts_off_the_deepest_entries() {
    let mut tree = TestTree::new();
    tree.folder.max_entries = 2;
    let scanned = tree.folder.scan(&FolderTree::default()).unwrap();
    assert!(scanned.is_truncated);
    assert_eq!(scanned.files.len(), 2);
    assert!(scanned.files.keys().all(|path| path.names().count() == 1));
}

#[test]
fn rejects_a_file_over_the_size_limit() {
    let mut tree = TestTree::new();
    fs::write(tree.path("large"), "12345").unwrap();
    tree.folder.max_file_bytes = 4;
    let read = tree.read("large");
    assert!(matches!(read, Err(ReadError::TooLarge { size: 5 })));
    tree.folder.max_file_bytes = 5;
    assert_eq!(tree.read("large").unwrap(), "12345");
}

#[test]
fn folders_that_are_too_deep_are_reported() {
    let tree = TestTree::new();
    let deep = ["d"; 130].join("/");
    fs::create_dir_all(tree.path(&deep)).unwrap();
    fs::write(tree.path(&deep).join("f.txt"), "x").unwrap();
    let scanned = tree.folder.scan(&FolderTree::default()).unwrap();
    let problems: Vec<_> = scanned.problems().collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("128 folders deep"), "{problems:?}");
}
