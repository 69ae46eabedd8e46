//! `{ kind: files }`: what clients can read and what they cannot.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::{PNG, home, home_with, start, uri, write};
use crate::support::proc::poll_for;
use crate::support::{Answer, Home, Server};

fn read(server: &Server, uri: &str) -> Answer {
    server.modern("resources/read", json!({ "uri": uri }))
}

#[track_caller]
fn contents(server: &Server, uri: &str) -> Value {
    let mut result = read(server, uri).result();
    assert_eq!(result["contents"][0]["uri"], uri, "the requested form");
    result["contents"][0].take()
}

fn listed(server: &Server) -> Vec<Value> {
    let mut result = server.modern("resources/list", json!({})).result();
    let all: Vec<Value> = serde_json::from_value(result["resources"].take()).unwrap();
    let of_files = |one: &Value| one["uri"].as_str().unwrap().contains("file://");
    all.into_iter().filter(of_files).collect()
}

/// Types, sizes and times in the list; text as text, other content as a blob.
#[test]
fn files_are_listed_and_read_with_their_types() {
    let server = start();
    let home = server.home.path().to_owned();
    let listed = listed(&server);
    let entry = |path: &str| {
        let uri = uri(&home, path);
        let found = listed.iter().find(|resource| resource["uri"] == uri);
        found.unwrap_or_else(|| panic!("{uri} is not in {listed:?}"))
    };
    for (path, mime, size) in [
        ("notes/readme.md", "text/markdown", 8),
        ("notes/deep/er/a%20b.txt", "text/plain", 5),
        ("notes/picture.png", "image/png", PNG.len()),
        ("notes/caf%C3%A9.txt", "application/octet-stream", 5),
        ("notes/link.txt", "text/plain", 5),
        ("notes/empty", "text/plain", 0),
    ] {
        let entry = entry(path);
        assert_eq!(entry["mimeType"], mime, "{entry}");
        assert_eq!(entry["size"], size, "{entry}");
        let modified = entry["annotations"]["lastModified"].as_str().unwrap();
        assert!(modified.ends_with('Z') && modified.contains('T'), "{entry}");
    }
    let text = contents(&server, &uri(&home, "notes/readme.md"));
    assert_eq!(
        (&text["text"], text.get("blob")),
        (&json!("# Notes\n"), None)
    );
    let blob = contents(&server, &uri(&home, "notes/picture.png"));
    assert_eq!(
        (&blob["blob"], blob.get("text")),
        (&json!("iVBORw0KGgoAAAANSUhEUg=="), None)
    );
    let latin = contents(&server, &uri(&home, "notes/caf%C3%A9.txt"));
    assert_eq!(latin["blob"], "Y2Fm6Qo=", "not UTF-8, so a blob");
    assert_eq!(contents(&server, &uri(&home, "notes/empty"))["text"], "");
    server.stop();
}

/// X25: raw spaces are accepted, `%20` is written, and the requested form is returned.
#[test]
fn file_is_read_in_any_spelling() {
    let server = start();
    let home = server.home.path().to_owned();
    for path in [
        "notes/deep/er/a%20b.txt",
        "notes/deep/er/a b.txt",
        "notes/deep/%65r/a%20b.txt",
    ] {
        assert_eq!(contents(&server, &uri(&home, path))["text"], "deep\n");
    }
    server.stop();
}

#[test]
fn folder_is_read_as_a_list() {
    let server = start();
    let home = server.home.path().to_owned();
    let text = contents(&server, &uri(&home, "notes/deep"))["text"].clone();
    let folder: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    assert_eq!(folder["uri"], uri(&home, "notes/deep/"));
    let entries = json!([{ "name": "er", "type": "folder", "uri": uri(&home, "notes/deep/er/") }]);
    assert_eq!(folder["entries"], entries);
    let inner = contents(&server, entries[0]["uri"].as_str().unwrap())["text"].clone();
    let inner: Value = serde_json::from_str(inner.as_str().unwrap()).unwrap();
    assert_eq!(inner["entries"][0]["name"], "a b.txt");
    assert_eq!(
        inner["entries"][0]["uri"],
        uri(&home, "notes/deep/er/a%20b.txt")
    );
    server.stop();
}

/// Security T32. Ignored, hidden, outside and special files do not exist for clients.
#[test]
fn hidden_files_do_not_exist() {
    let server = start();
    let home = server.home.path().to_owned();
    for path in [
        "notes/.env",
        "notes/run.log",
        "notes/private/x.md",
        "notes/private",
        "notes/.gitignore",
        "notes/out.txt",
        "notes/../outside.txt",
        "notes/%2e%2e/outside.txt",
        "notes/..%2foutside.txt",
        "notes/deep/../../outside.txt",
        "notes/%252e%252e/outside.txt",
        "notes/readme.md%00.txt",
        "notes//readme.md",
        "notes/..\\outside.txt",
        "outside.txt",
        "tidegate.yaml",
        "notes/nothing",
    ] {
        for uri in [
            uri(&home, path),
            uri(&home, path).replace("file://", "file://elsewhere"),
        ] {
            let answer = read(&server, &uri);
            assert!(!answer.body.contains("SECRET"), "{uri}: {answer:?}");
            let error = answer.error();
            assert_eq!(error["code"], -32602, "{uri}: {error}");
            assert_eq!(error["data"]["uri"], uri, "{error}");
        }
    }
    server.stop();
}

#[test]
fn file_over_the_limit_is_neither_listed_nor_read() {
    let home = home();
    write(&home, "notes/large.txt", &[b'x'; 1025]);
    write(&home, "notes/just.txt", &[b'x'; 1024]);
    let server = Server::start_in(home, &[]);
    let large = uri(server.home.path(), "notes/large.txt");
    assert!(
        !listed(&server)
            .iter()
            .any(|resource| resource["uri"] == large)
    );
    let error = read(&server, &large).error();
    assert_eq!(
        error["message"],
        "the file has 1025 bytes; the limit is 1024"
    );
    assert_eq!(
        (&error["data"]["size"], &error["data"]["limit"]),
        (&json!(1025), &json!(1024))
    );
    contents(&server, &uri(server.home.path(), "notes/just.txt"));
    let template = format!("{}{{+path}}", uri(server.home.path(), "notes/"));
    let completed = server.modern(
        "completion/complete",
        json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": "path", "value": "" },
        }),
    );
    let offered = completed.result()["completion"]["values"].to_string();
    assert!(
        offered.contains("just.txt") && !offered.contains("large.txt"),
        "{offered}"
    );
    server.stop();
}

/// A file in place of a folder is reported as a file.
#[test]
fn file_in_place_of_a_folder_is_reported() {
    let config = "sources: { f: { kind: files, folder: x }, p: { kind: prompts, folder: x } }\n";
    let home = Home::with_config(config);
    home.write("x", "");
    let listed = home.run(&["ls"]).expect_code(0).stderr;
    let file = home.path().join("x");
    for source in ["f", "p"] {
        let message = format!(
            "source `{source}` is unavailable: `{}` is a file; set `folder` to a folder",
            file.display()
        );
        assert!(listed.contains(&message), "{listed}");
    }
}

/// A5.3: a truncated list is reported in the list, the log and the health.
#[test]
fn files_over_the_limit_are_reported_and_can_be_read() {
    let config = "sources: { notes: { kind: files, folder: notes, max_files: 3 } }\n";
    let server = Server::start_in(home_with(config), &[]);
    let page = server.modern("resources/list", json!({})).result();
    let gap = page["_meta"]["dev.tidegate/missing"]["notes"].as_str();
    assert!(
        gap.is_some_and(|gap| gap.contains("more than 3 files")),
        "{page}"
    );
    assert_eq!(listed(&server).len(), 4, "the folder and three files");
    let deep = uri(server.home.path(), "notes/deep/er/a%20b.txt");
    assert_eq!(contents(&server, &deep)["text"], "deep\n");
    let health = read(&server, "resource://system/health").result();
    assert!(health.to_string().contains("more than 3 files"), "{health}");
    let log = server.stop().stderr;
    assert_eq!(log.matches("more than 3 files").count(), 1, "{log}");
}

/// A missing folder is reported, and listed once it exists.
#[test]
fn folder_can_be_created_later() {
    let config = "sources: { notes: { kind: files, folder: later } }\n";
    let server = Server::start_in(home_with(config), &[]);
    let page = server.modern("resources/list", json!({})).result();
    let gap = &page["_meta"]["dev.tidegate/missing"]["notes"];
    let folder = server.home.path().join("later");
    let message = format!(
        "the folder `{}` does not exist; create it, or change `folder`",
        folder.display()
    );
    assert_eq!(gap, &message);
    write(&server.home, "later/a.md", b"# A\n");
    poll_for("the new folder to be listed", || {
        (!listed(&server).is_empty()).then_some(())
    });
    contents(&server, &uri(server.home.path(), "later/a.md"));
    server.stop();
}

/// Overlapping sources: the first keeps its URIs, those of the other are qualified.
#[test]
fn folders_can_overlap() {
    let config = "\
sources:
  inner: { kind: files, folder: notes/deep }
  outer: { kind: files, folder: notes, gitignore: false, exclude: ['*.png', /empty], include_hidden: true }
";
    let server = Server::start_in(home_with(config), &[]);
    let home = server.home.path().to_owned();
    let uris: Vec<_> = listed(&server)
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .collect();
    let deep = uri(&home, "notes/deep/er/a%20b.txt");
    assert!(uris.contains(&deep), "{uris:?}");
    assert!(
        uris.contains(&format!("gateway://outer/{deep}")),
        "{uris:?}"
    );
    assert!(
        uris.contains(&uri(&home, "notes/run.log")),
        "gitignore is off: {uris:?}"
    );
    assert!(uris.contains(&uri(&home, "notes/.env")), "{uris:?}");
    assert!(
        !uris
            .iter()
            .any(|uri| uri.contains("png") || uri.contains("empty")),
        "{uris:?}"
    );
    for uri in uris {
        contents(&server, &uri);
    }
    server.stop();
}

/// A folder in the path is repeatedly swapped for a symbolic link out of the root.
#[test]
fn swapped_symbolic_links_do_not_lead_out() {
    let home = home();
    write(&home, "notes/swap/now/x.txt", b"fine");
    write(&home, "elsewhere/x.txt", b"SECRET");
    let folder = home.path().join("notes/swap");
    std::os::unix::fs::symlink("../../elsewhere", folder.join("then")).unwrap();
    let server = Server::start_in(home, &[]);
    let swapped_uri = uri(server.home.path(), "notes/swap/now/x.txt");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let stopping = Stopping(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(folder.join("now"), folder.join("between")).unwrap();
                fs::rename(folder.join("then"), folder.join("now")).unwrap();
                fs::rename(folder.join("between"), folder.join("then")).unwrap();
            }
        });
        for _ in 0..500 {
            let answer = read(&server, &swapped_uri);
            assert!(!answer.body.contains("SECRET"), "{answer:?}");
        }
        drop(stopping);
    });
    server.stop();
}

/// Stops the swapping, also when the test fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
