//! The tools of a memory source.

mod read;
mod write;

use super::state::MemoryState;
use crate::declarations::{DeclaredTool, ToolEffect, ToolInfo};

pub(super) fn tools() -> Vec<DeclaredTool<MemoryState>> {
    vec![
        DeclaredTool::new(
            ToolInfo {
                name: "store",
                title: "Store a memory entry",
                description: "Stores a JSON value under a key. Only you can read it, and it \
                    persists after the conversation ends. An existing value is replaced. Add tags \
                    to find it later, and a ttl if it is only valid for a while.",
                effect: ToolEffect::Destructive,
            },
            |state, call, arguments| Box::pin(write::store(state, call, arguments)),
        ),
        DeclaredTool::new(
            ToolInfo {
                name: "retrieve",
                title: "Retrieve a memory entry",
                description: "Returns the value stored under a key. Use `search` or `list` if you \
                    do not know the key.",
                effect: ToolEffect::ReadOnly,
            },
            |state, call, arguments| Box::pin(read::retrieve(state, call, arguments)),
        ),
        DeclaredTool::new(
            ToolInfo {
                name: "list",
                title: "List memory entries",
                description: "Lists keys with their tags, in order, without values. The pattern is \
                    a glob: `*` and `?` match within a path segment of the key, `**` across \
                    segments; `[a-z]` and `{a,b}` are supported.",
                effect: ToolEffect::ReadOnly,
            },
            |state, call, arguments| Box::pin(read::list(state, call, arguments)),
        ),
        DeclaredTool::new(
            ToolInfo {
                name: "search",
                title: "Search memory entries",
                description: "Full-text search over keys, values and tags, best matches first. \
                    Returns the entries that contain all words, or if there are none, those that \
                    contain any. Words match as prefixes.",
                effect: ToolEffect::ReadOnly,
            },
            |state, call, arguments| Box::pin(read::search(state, call, arguments)),
        ),
        DeclaredTool::new(
            ToolInfo {
                name: "delete",
                title: "Delete a memory entry",
                description: "Permanently deletes the entry stored under a key.",
                effect: ToolEffect::Destructive,
            },
            |state, call, arguments| Box::pin(write::delete(state, call, arguments)),
        ),
        DeclaredTool::new(
            ToolInfo {
                name: "clear",
                title: "Delete all memory entries",
                description: "Permanently deletes all of your entries, or all in one namespace. \
                    Asks the user to confirm if the client supports it.",
                effect: ToolEffect::Destructive,
            },
            |state, call, arguments| Box::pin(write::clear(state, call, arguments)),
        ),
    ]
}
