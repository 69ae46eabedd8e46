//! Asks the user before a destructive tool is called.

use std::io::{self, IsTerminal as _, Write as _};

use rustix::termios::{QueueSelector, tcflush};
use serde::Deserialize;
use serde_json::{Value, json};
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

/// The longest arguments that a question shows, in characters.
const MAX_ARGUMENTS: usize = 2_000;

/// The tool that `gateway__call_tool` calls.
const CALL_TOOL: [&str; 2] = ["gateway__call_tool", "gateway.call_tool"];

/// A tool that is about to be called.
pub(super) struct PlannedCall {
    pub(super) tool: String,
    pub(super) arguments: RawJson,
    /// The gateway tool that calls it, if it is not called directly.
    through: Option<String>,
}

#[derive(Deserialize)]
struct CallToolArguments {
    name: String,
    arguments: Option<Value>,
}

impl PlannedCall {
    /// The call that a command makes. A call of `gateway__call_tool` is a call of its inner tool.
    pub(super) fn new(tool: &str, arguments: RawJson) -> Self {
        let inner = arguments.read::<CallToolArguments>();
        match inner {
            Ok(inner) if CALL_TOOL.contains(&tool) => Self {
                tool: inner.name,
                arguments: inner.arguments.unwrap_or_else(|| json!({})).into(),
                through: Some(tool.to_owned()),
            },
            _ => Self {
                tool: tool.to_owned(),
                arguments,
                through: None,
            },
        }
    }

    fn question(&self) -> String {
        let tool = printable(&self.tool);
        let through = match &self.through {
            Some(through) => format!(" (through `{}`)", printable(through)),
            None => String::new(),
        };
        let mut arguments: String = printable(self.arguments.as_str());
        if let Some((end, _)) = arguments.char_indices().nth(MAX_ARGUMENTS) {
            arguments.truncate(end);
            arguments.push('…');
        }
        format!("`{tool}`{through} is marked as destructive. Call it with {arguments}? [y/N] ")
    }
}

/// Asks whether to make a call.
pub(super) async fn confirm(call: &PlannedCall) -> io::Result<bool> {
    // What was typed before the question is not an answer to it.
    tcflush(io::stdin(), QueueSelector::IFlush)?;
    write!(io::stderr(), "{}", call.question())?;
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
    use super::*;

    #[test]
    fn a_question_names_the_inner_tool_and_the_arguments() {
        let arguments = || RawJson::copy_of(r#"{"name":"a__b","arguments":{"key":"x"}}"#);
        let call = PlannedCall::new("gateway__call_tool", arguments());
        assert_eq!(
            call.question(),
            "`a__b` (through `gateway__call_tool`) is marked as destructive. Call it with \
             {\"key\":\"x\"}? [y/N] "
        );
        let direct = PlannedCall::new("a__b", arguments());
        assert!(
            direct
                .question()
                .starts_with("`a__b` is marked as destructive. Call it with {")
        );
        let long = RawJson::string(&"x".repeat(5_000));
        let question = PlannedCall::new("a__b", long).question();
        assert!(question.ends_with("…? [y/N] ") && question.chars().count() < 2_200);
    }

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
