//! The filesystem server.

use std::path::Path;

use serde_json::json;

use super::super::recorder::Recorder;

pub(super) fn run_script(recorder: &mut Recorder, folder: &Path) {
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    recorder.call("list_allowed_directories", json!({}));
    recorder.call("read_text_file", json!({ "path": at("tides.txt") }));
    recorder.call(
        "read_text_file",
        json!({ "path": at("tides.txt"), "head": 1 }),
    );
    recorder.call(
        "read_text_file",
        json!({ "path": at("tides.txt"), "head": 1, "tail": 1 }),
    );
    recorder.call("read_file", json!({ "path": at("no-such-file") }));
    recorder.call("read_file", json!({ "path": "/etc/passwd" }));
    recorder.call("read_media_file", json!({ "path": at("dot.png") }));
    let two = json!({ "paths": [at("tides.txt"), at("no-such-file")] });
    recorder.call("read_multiple_files", two);
    recorder.call("read_multiple_files", json!({ "paths": [] }));
    recorder.call("list_directory", json!({ "path": at("") }));
    recorder.call("list_directory_with_sizes", json!({ "path": at("") }));
    recorder.call("directory_tree", json!({ "path": at("") }));
    recorder.call(
        "search_files",
        json!({ "path": at(""), "pattern": "**/*.md" }),
    );
    recorder.call("get_file_info", json!({ "path": at("tides.txt") }));
    let edit = json!({
        "path": at("tides.txt"), "dryRun": true,
        "edits": [{ "oldText": "brest 7.4", "newText": "brest 7.5" }],
    });
    recorder.call("edit_file", edit);
    recorder.call("create_directory", json!({ "path": at("new/deep") }));
    let text = "one\u{2028}line of 1 MB: ".to_owned() + &"~".repeat(1_000_000);
    recorder.call(
        "write_file",
        json!({ "path": at("new/large.txt"), "content": text }),
    );
    let (from, to) = (at("new/large.txt"), at("new/deep/large.txt"));
    recorder.call("move_file", json!({ "source": from, "destination": to }));
    recorder.call("read_text_file", json!({ "path": to }));
    super::unknown(recorder);
}
