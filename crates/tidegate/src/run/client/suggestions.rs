//! Explains errors about a name: similar names, and unavailable sources that might have it.

use std::fmt;

use tidegate_core::{Code, Error, List};
use tidegate_mcp::codes;

use super::availability::unhealthy_sources;
use super::connection::GatewayConnection;
use super::lists::{entries, entry_key, list_name};
use crate::config::nearest;

/// Adds suggestions to an error about a name.
pub(super) async fn explain_error(
    connection: &GatewayConnection,
    list: List,
    name: &str,
    error: &Error,
) -> anyhow::Error {
    let mut message = match error.code() {
        Code::ResourceNotFound | Code::MalformedUri => format!("no resource has the URI `{name}`"),
        _ => error.message().to_owned(),
    };
    let found = match (list, error.code()) {
        // A resource can exist without being listed.
        (List::Resources, code) if !matches!(code, Code::ResourceNotFound | Code::MalformedUri) => {
            Suggestion::None
        }
        (_, code) if is_unavailable(code) => Suggestion::None,
        _ => suggest(connection, list, name).await,
    };
    match &found {
        Suggestion::Similar(_) => message += &format!("; {found}"),
        // An error that names an unavailable source explains enough.
        Suggestion::List(_) if !message.contains("source `") => message += &format!("; {found}"),
        Suggestion::List(_) | Suggestion::None => {}
    }
    if !matches!(found, Suggestion::None) || error.code() == Code::SourceDown {
        for source in unhealthy_sources(connection) {
            if !source.is_named_in(&message) {
                message += &format!("\n  {}", source.message);
            }
        }
    }
    anyhow::anyhow!(message)
}

/// Whether an error means that a source or the gateway is unavailable, so that the name is not the
/// problem.
fn is_unavailable(code: Code) -> bool {
    match code {
        Code::SourceDown | Code::SourceFailed | Code::Unavailable | Code::Timeout => true,
        // A remote gateway reports the same condition with its error number.
        Code::Source(number) => number == codes::of(Code::SourceDown).modern,
        _ => false,
    }
}

/// What to try instead of a name.
pub(super) enum Suggestion {
    /// The name is listed, or the list is not available.
    None,
    Similar(String),
    List(List),
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Similar(name) => write!(f, "did you mean `{name}`?"),
            Self::List(list) => {
                let kind = list_name(*list);
                write!(f, "`tidegate ls {kind}` lists all {kind}")
            }
        }
    }
}

/// Finds a listed name that is similar to an unlisted one.
pub(super) async fn suggest(connection: &GatewayConnection, list: List, name: &str) -> Suggestion {
    let Ok(entries) = entries(connection, list).await else {
        // The error of the request is the one to report.
        return Suggestion::None;
    };
    let names: Vec<String> = entries
        .iter()
        .filter_map(|entry| entry_key(list, entry))
        .collect();
    let spellings: Vec<(String, &str)> = names
        .iter()
        .flat_map(|full| spellings(list, full).map(|spelling| (spelling, full.as_str())))
        .collect();
    let known: Vec<&str> = spellings
        .iter()
        .map(|(spelling, _)| spelling.as_str())
        .collect();
    if known.contains(&name) {
        return Suggestion::None;
    }
    let similar = nearest(name, &known)
        .and_then(|similar| spellings.iter().find(|(spelling, _)| *spelling == similar));
    match similar {
        Some((_, full)) => Suggestion::Similar((*full).to_owned()),
        None => Suggestion::List(list),
    }
}

/// The names that a listed entry can be requested by: as listed, and without its source.
pub(super) fn spellings(list: List, full: &str) -> impl Iterator<Item = String> {
    let parts = match list {
        List::Tools => full.split_once("__"),
        List::Prompts => full.split_once('/'),
        List::Resources | List::Templates => None,
    };
    let bare = parts.map(|(_, bare)| bare.to_owned());
    let dotted = parts
        .filter(|_| list == List::Tools)
        .map(|(source, bare)| format!("{source}.{bare}"));
    [Some(full.to_owned()), bare, dotted].into_iter().flatten()
}
