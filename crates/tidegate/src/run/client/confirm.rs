//! Asks the user before a destructive tool is called.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Deserialize;
use tidegate_core::RawJson;

use super::output::printable;

#[derive(Deserialize)]
struct Tool {
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
}

/// Whether a tool is marked as destructive. The specification's default applies to a tool that
/// declares that it is not read-only. A tool without either hint, the common case, counts as not
/// marked.
pub(super) fn is_destructive(tool: &RawJson) -> bool {
    let Ok(Tool { annotations }) = tool.read() else {
        return false;
    };
    match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => false,
        (_, Some(destructive)) => destructive,
        (Some(false), None) => true,
        (None, None) => false,
    }
}

/// Whether there is a user to ask.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks whether to call a tool.
pub(super) async fn confirm(tool: &str) -> io::Result<bool> {
    let tool = printable(tool);
    write!(
        io::stderr(),
        "`{tool}` is marked as destructive. Call it? [y/N] "
    )?;
    let read = tokio::task::spawn_blocking(|| {
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map(|_| answer)
    });
    let answer = read.await.map_err(io::Error::other)??;
    let answer = answer.trim().to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_tools_marked_as_destructive_need_confirmation() {
        for (annotations, destructive) in [
            (json!({}), false),
            (json!({ "title": "Delete" }), false),
            (json!({ "destructiveHint": true }), true),
            (json!({ "destructiveHint": false }), false),
            (json!({ "readOnlyHint": false }), true),
            (
                json!({ "readOnlyHint": false, "destructiveHint": false }),
                false,
            ),
            (json!({ "readOnlyHint": true }), false),
            (
                json!({ "readOnlyHint": true, "destructiveHint": true }),
                false,
            ),
        ] {
            let tool = json!({ "name": "x", "annotations": annotations }).into();
            assert_eq!(is_destructive(&tool), destructive, "{annotations}");
        }
        assert!(!is_destructive(&json!({ "name": "x" }).into()));
    }
}
