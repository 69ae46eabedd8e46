//! The README and every page of `docs`, followed literally: files are written, commands are run in
//! order in an empty folder, and their output is compared with what the page shows.
//!
//! CONTRIBUTING.md says how a page marks its blocks.

mod client_config;
mod markdown;
mod matching;
mod programs;
mod session;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use session::Session;

/// Pages without commands, whose content other tests check.
const NOT_FOLLOWED: [&str; 2] = ["docs/decisions", "docs/reference"];

/// One test for each page, so that they run side by side.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(
            #[test]
            fn $name() {
                follow($path);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    exposure: "docs/exposure.md",
    bridge: "docs/bridge.md",
    extensions: "docs/extensions.md",
    http_read: "docs/http-read.md",
    claude_code: "docs/clients/claude-code.md",
    claude_desktop: "docs/clients/claude-desktop.md",
    codex: "docs/clients/codex.md",
    cursor: "docs/clients/cursor.md",
    inspector: "docs/clients/inspector.md",
    vs_code: "docs/clients/vs-code.md",
    zed: "docs/clients/zed.md",
    capability_index: "docs/sources/capability-index.md",
    files: "docs/sources/files.md",
    memory: "docs/sources/memory.md",
    prompts: "docs/sources/prompts.md",
    servers: "docs/sources/servers.md",
    system: "docs/sources/system.md",
}

fn follow(page: &str) {
    let text = fs::read_to_string(repository().join(page)).unwrap();
    let mut session = Session::new(page);
    for block in markdown::blocks(&text) {
        session.follow(&block);
    }
    session.finish();
}

#[test]
fn every_page_is_followed() {
    let mut found = BTreeSet::from(["README.md".to_owned()]);
    collect(&repository().join("docs"), &mut found);
    let followed: BTreeSet<_> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    assert_eq!(found, followed, "add the page to `pages!`");
}

fn collect(folder: &Path, pages: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(repository()).unwrap();
        let name = name.to_str().unwrap().to_owned();
        if NOT_FOLLOWED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, pages);
        } else if name.ends_with(".md") {
            pages.insert(name);
        }
    }
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}
