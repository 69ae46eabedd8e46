//! Prompts that bring what is remembered into a conversation.

use tidegate_core::{Result, truncate_for_message};
use tidegate_store::memory::{MemoryEntry, TextQuery};

use super::State;
use crate::declare::{Argument, Body, Given, Message, Prompt};

/// Entries that a prompt brings.
const MOST: u32 = 20;

/// A larger value is named, not brought.
const LARGEST: u64 = 16 << 10;

pub(super) fn prompts() -> Vec<Prompt<State>> {
    vec![
        Prompt {
            name: "memory_search",
            title: "Search memory",
            description: "Finds what is remembered about something, and brings it here.",
            arguments: vec![Argument {
                name: "query",
                description: "The words to look for",
                required: true,
                complete: None,
            }],
            get: |state, given| Box::pin(search(state, given)),
        },
        Prompt {
            name: "memory_context",
            title: "Context from memory",
            description: "Brings what is remembered about a topic, or what was remembered last, \
                as context for what follows.",
            arguments: vec![Argument {
                name: "topic",
                description: "What it is about; without it, the newest entries are taken",
                required: false,
                complete: None,
            }],
            get: |state, given| Box::pin(context(state, given)),
        },
    ]
}

async fn search(state: &State, given: Given<'_>) -> Result<Vec<Message>> {
    let query = given.get("query").unwrap_or_default();
    let entries = found(state, &given, query).await?;
    let opening = match entries.len() {
        0 => format!(
            "Memory has nothing about \"{}\".",
            truncate_for_message(query)
        ),
        count => format!(
            "Memory has {count} {} about \"{}\". Answer from what follows, and name the keys you use.",
            entries_of(count),
            truncate_for_message(query)
        ),
    };
    Ok(messages(state, opening, entries))
}

async fn context(state: &State, given: Given<'_>) -> Result<Vec<Message>> {
    let topic = given.get("topic").filter(|topic| !topic.trim().is_empty());
    let (entries, about) = match topic {
        Some(topic) => (
            found(state, &given, topic).await?,
            format!(" about \"{}\"", truncate_for_message(topic)),
        ),
        None => {
            let owner = state.owner(given.caller);
            (state.kept.recent(&owner, MOST).await?, String::new())
        }
    };
    let opening = match entries.len() {
        0 => format!("Nothing is remembered{about}."),
        count => format!(
            "Take this into account: {count} {} of memory{about}.",
            entries_of(count)
        ),
    };
    Ok(messages(state, opening, entries))
}

async fn found(state: &State, given: &Given<'_>, words: &str) -> Result<Vec<MemoryEntry>> {
    let search = TextQuery {
        text: words.to_owned(),
        namespace: None,
        limit: MOST,
    };
    let owner = state.owner(given.caller);
    Ok(state.kept.search(&owner, &search).await?)
}

fn entries_of(count: usize) -> &'static str {
    match count {
        1 => "entry",
        _ => "entries",
    }
}

fn messages(state: &State, opening: String, entries: Vec<MemoryEntry>) -> Vec<Message> {
    let brought = entries.into_iter().map(|entry| message(state, &entry));
    std::iter::once(Message::text(opening))
        .chain(brought)
        .collect()
}

/// An entry as an embedded resource.
fn message(state: &State, entry: &MemoryEntry) -> Message {
    let uri = state.uris.entry(&entry.id);
    if entry.size > LARGEST {
        let key = &entry.id.key;
        return Message::text(format!("`{key}` is too large to be shown here; read {uri}"));
    }
    let resource = Body::value(&entry.value).item(&uri, "text/plain");
    Message::of_user(&serde_json::json!({ "type": "resource", "resource": resource }))
}
