//! Files below a folder.

use std::path::Path;

use serde_json::json;

use super::super::actor::Actor;

pub(super) fn play(actor: &mut Actor, folder: &Path) {
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    actor.call("list_allowed_directories", json!({}));
    actor.call("read_text_file", json!({ "path": at("tides.txt") }));
    actor.call(
        "read_text_file",
        json!({ "path": at("tides.txt"), "head": 1 }),
    );
    actor.call(
        "read_text_file",
        json!({ "path": at("tides.txt"), "head": 1, "tail": 1 }),
    );
    actor.call("read_file", json!({ "path": at("no-such-file") }));
    actor.call("read_file", json!({ "path": "/etc/passwd" }));
    actor.call("read_media_file", json!({ "path": at("dot.png") }));
    let two = json!({ "paths": [at("tides.txt"), at("no-such-file")] });
    actor.call("read_multiple_files", two);
    actor.call("read_multiple_files", json!({ "paths": [] }));
    actor.call("list_directory", json!({ "path": at("") }));
    actor.call("list_directory_with_sizes", json!({ "path": at("") }));
    actor.call("directory_tree", json!({ "path": at("") }));
    actor.call(
        "search_files",
        json!({ "path": at(""), "pattern": "**/*.md" }),
    );
    actor.call("get_file_info", json!({ "path": at("tides.txt") }));
    let edit = json!({
        "path": at("tides.txt"), "dryRun": true,
        "edits": [{ "oldText": "brest 7.4", "newText": "brest 7.5" }],
    });
    actor.call("edit_file", edit);
    actor.call("create_directory", json!({ "path": at("new/deep") }));
    let text = "one\u{2028}line of 1 MB: ".to_owned() + &"~".repeat(1_000_000);
    actor.call(
        "write_file",
        json!({ "path": at("new/large.txt"), "content": text }),
    );
    let (from, to) = (at("new/large.txt"), at("new/deep/large.txt"));
    actor.call("move_file", json!({ "source": from, "destination": to }));
    actor.call("read_text_file", json!({ "path": to }));
    super::unknown(actor);
}
