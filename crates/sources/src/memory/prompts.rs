//! Prompts that add stored entries to a conversation.

use tidegate_core::{Result, truncate_for_message};
use tidegate_store::memory::{MemoryEntry, TextQuery};

use super::state::MemoryState;
use crate::declarations::{
    DeclaredPrompt, PromptArgument, PromptCall, PromptMessage, ResourceContents,
};

/// Entries that a prompt contains.
const MAX_ENTRIES: u32 = 20;

/// Larger entries are only linked.
const MAX_EMBEDDED_BYTES: u64 = 16 << 10;

pub(super) fn prompts() -> Vec<DeclaredPrompt<MemoryState>> {
    vec![
        DeclaredPrompt {
            name: "memory_search",
            title: "Search memory",
            description: "Searches your memory entries and adds the matches to the conversation.",
            arguments: vec![PromptArgument {
                name: "query",
                description: "Words to search for",
                required: true,
                completer: None,
            }],
            get: |state, call| Box::pin(search(state, call)),
        },
        DeclaredPrompt {
            name: "memory_context",
            title: "Context from memory",
            description: "Adds memory entries about a topic to the conversation as context, or the \
                most recent entries if no topic is given.",
            arguments: vec![PromptArgument {
                name: "topic",
                description: "Topic to search for; omit it for the most recent entries",
                required: false,
                completer: None,
            }],
            get: |state, call| Box::pin(context(state, call)),
        },
    ]
}

async fn search(state: &MemoryState, call: PromptCall<'_>) -> Result<Vec<PromptMessage>> {
    let query = call.argument("query").unwrap_or_default();
    let entries = matching(state, &call, query).await?;
    let query = truncate_for_message(query);
    let introduction = match entries.len() {
        0 => format!("Memory has no entries about \"{query}\"."),
        count => format!(
            "Memory has {} about \"{query}\". Answer from them, and name the keys you use.",
            count_of_entries(count),
        ),
    };
    Ok(messages(state, introduction, entries))
}

async fn context(state: &MemoryState, call: PromptCall<'_>) -> Result<Vec<PromptMessage>> {
    let topic = call.argument("topic");
    let topic = topic.filter(|topic| !topic.trim().is_empty());
    let (entries, about) = match topic {
        Some(topic) => (
            matching(state, &call, topic).await?,
            format!(" about \"{}\"", truncate_for_message(topic)),
        ),
        None => {
            let owner = state.owner(call.caller);
            let recent = state.entries.recent(&owner, MAX_ENTRIES).await?;
            (recent, String::new())
        }
    };
    let introduction = match entries.len() {
        0 => format!("Memory has no entries{about}."),
        count => {
            let entries = count_of_entries(count);
            format!("Take this into account: {entries} from memory{about}.")
        }
    };
    Ok(messages(state, introduction, entries))
}

async fn matching(
    state: &MemoryState,
    call: &PromptCall<'_>,
    text: &str,
) -> Result<Vec<MemoryEntry>> {
    let query = TextQuery {
        text: text.to_owned(),
        namespace: None,
        limit: MAX_ENTRIES,
    };
    let owner = state.owner(call.caller);
    Ok(state.entries.search(&owner, &query).await?)
}

fn count_of_entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}

fn messages(
    state: &MemoryState,
    introduction: String,
    entries: Vec<MemoryEntry>,
) -> Vec<PromptMessage> {
    let entries = entries.into_iter().map(|entry| embed(state, &entry));
    std::iter::once(PromptMessage::text(introduction))
        .chain(entries)
        .collect()
}

/// An entry as an embedded resource.
fn embed(state: &MemoryState, entry: &MemoryEntry) -> PromptMessage {
    let uri = state.uris.entry(&entry.id);
    if entry.size > MAX_EMBEDDED_BYTES {
        let key = &entry.id.key;
        return PromptMessage::text(format!("`{key}` is too large to include; read {uri}"));
    }
    let resource = ResourceContents::from_json_value(&entry.value).into_item(&uri, "text/plain");
    PromptMessage::from_user(&serde_json::json!({ "type": "resource", "resource": resource }))
}
