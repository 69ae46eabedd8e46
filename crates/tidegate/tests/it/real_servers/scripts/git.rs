//! A repository of one commit, with a change that is not staged.

use std::path::Path;

use serde_json::{Value, json};

use super::super::actor::Actor;

pub(super) fn play(actor: &mut Actor, repository: &Path) {
    let mut call = |tool: &str, mut arguments: Value| {
        arguments["repo_path"] = repository.to_str().unwrap().into();
        actor.call(tool, arguments);
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
    actor.call("git_status", json!({ "repo_path": "/" }));
    actor.call("git_status", json!({}));
    super::unknown(actor);
}
