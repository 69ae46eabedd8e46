//! The git server, with a repository of one commit and an unstaged change.

use std::path::Path;

use serde_json::{Value, json};

use super::super::recorder::Recorder;

pub(super) fn run_script(recorder: &mut Recorder, repository: &Path) {
    let mut call = |tool: &str, mut arguments: Value| {
        arguments["repo_path"] = repository.to_str().unwrap().into();
        recorder.call(tool, arguments);
    };
    call("git_status", json!({}));
    call("git_diff_unstaged", json!({ "context_lines": 1 }));
    call("git_diff", json!({ "target": "spring" }));
    call("git_diff", json!({ "target": "no-such-branch" }));
    call("git_diff", json!({ "target": "--output=/tmp/x" }));
    call("git_commit", json!({ "message": "too early" }));
    call("git_add", json!({ "files": ["tides.txt"] }));
    call("git_diff_staged", json!({}));
    call("git_reset", json!({}));
    call("git_add", json!({ "files": ["."] }));
    call("git_add", json!({ "files": [] }));
    call("git_commit", json!({ "message": "a second tide" }));
    call("git_log", json!({ "max_count": 5 }));
    call("git_log", json!({ "max_count": "five" }));
    call("git_show", json!({ "revision": "HEAD" }));
    call(
        "git_create_branch",
        json!({ "branch_name": "neap", "base_branch": "main" }),
    );
    call("git_checkout", json!({ "branch_name": "neap" }));
    call("git_branch", json!({ "branch_type": "local" }));
    call("git_branch", json!({ "branch_type": "none" }));
    recorder.call("git_status", json!({ "repo_path": "/" }));
    recorder.call("git_status", json!({}));
    super::unknown(recorder);
}
