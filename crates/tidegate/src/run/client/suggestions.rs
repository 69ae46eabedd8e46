//! Explains errors about a name: similar names, and unavailable sources that might have it.

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
        Code::ResourceNotFound => format!("no resource has the URI `{name}`"),
        _ => error.message().to_owned(),
    };
    let suggestion = match (list, error.code()) {
        // A resource can exist without being listed.
        (List::Resources, code) if code != Code::ResourceNotFound => None,
        (_, code) if is_unavailable(code) => None,
        _ => suggestion(connection, list, name).await,
    };
    if let Some(suggestion) = &suggestion {
        message += &format!("; {suggestion}");
    }
    if suggestion.is_some() || error.code() == Code::SourceDown {
        for source in unhealthy_sources(connection) {
            if !source.is_named_in(&message) {
                message += &format!("\n  {}", source.message);
            }
        }
    }
    anyhow::anyhow!(message)
}

/// Whether an error says that a source or the gateway cannot answer now, whatever the name.
fn is_unavailable(code: Code) -> bool {
    match code {
        Code::SourceDown | Code::SourceFailed | Code::Unavailable | Code::Timeout => true,
        // A gateway elsewhere reports the same with its number.
        Code::Source(number) => number == codes::of(Code::SourceDown).modern,
        _ => false,
    }
}

/// What to try instead of a name that is not listed; none if it is listed.
pub(super) async fn suggestion(
    connection: &GatewayConnection,
    list: List,
    name: &str,
) -> Option<String> {
    // If the list fails, the first error is the one to report.
    let entries = entries(connection, list).await.ok()?;
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
        return None;
    }
    let similar = nearest(name, &known)
        .and_then(|similar| spellings.iter().find(|(spelling, _)| *spelling == similar));
    let kind = list_name(list);
    Some(match similar {
        Some((_, full)) => format!("did you mean `{full}`?"),
        None => format!("`tidegate ls {kind}` lists all {kind}"),
    })
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
