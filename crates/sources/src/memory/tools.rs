//! The tools of a memory.

mod reading;
mod writing;

use super::State;
use crate::declare::{Hint, Tool};

pub(super) fn tools() -> Vec<Tool<State>> {
    vec![
        Tool::new(
            "store",
            "Remember something",
            "Keeps a JSON value under a key, for you alone, also after the conversation has ended. \
             What was there before is replaced. Give tags to find it by, and a ttl if it is only \
             true for a while.",
            Hint::Destroys,
            |state, asking, arguments| Box::pin(writing::store(state, asking, arguments)),
        ),
        Tool::new(
            "retrieve",
            "Recall something",
            "Gives the value that is kept under a key. Use `search` or `list` if you do not know \
             the key.",
            Hint::Reads,
            |state, asking, arguments| Box::pin(reading::retrieve(state, asking, arguments)),
        ),
        Tool::new(
            "list",
            "List what is remembered",
            "Lists keys with their tags, in order, without their values. A pattern is a glob: `*` \
             and `?` within a part of the key between slashes, `**` across them, `[a-z]`, \
             `{a,b}`.",
            Hint::Reads,
            |state, asking, arguments| Box::pin(reading::list(state, asking, arguments)),
        ),
        Tool::new(
            "search",
            "Search what is remembered",
            "Finds entries by the words in their keys, values and tags, the best first: those with \
             all of the words, or else those with any. A word may be the beginning of a longer \
             one.",
            Hint::Reads,
            |state, asking, arguments| Box::pin(reading::search(state, asking, arguments)),
        ),
        Tool::new(
            "delete",
            "Forget something",
            "Deletes what is kept under a key, for good.",
            Hint::Destroys,
            |state, asking, arguments| Box::pin(writing::delete(state, asking, arguments)),
        ),
        Tool::new(
            "clear",
            "Forget everything",
            "Deletes all that you keep, or all in one namespace, for good. The user is asked \
             first where that is possible.",
            Hint::Destroys,
            |state, asking, arguments| Box::pin(writing::clear(state, asking, arguments)),
        ),
    ]
}
