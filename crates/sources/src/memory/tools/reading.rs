//! The tools that change nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::memory::{EntryId, EntryOwner, EntryRange, EntrySummary, TextQuery};

use super::super::State;
use super::super::entries::{Listed, Shown, maybe_namespace, place};
use super::super::glob::Pattern;
use crate::declare::{Asking, Stop};

/// Entries in one answer: where nothing is said, and at most.
const LISTED: u32 = 100;
const MOST_LISTED: u32 = 1_000;
const FOUND: u32 = 10;
const MOST_FOUND: u32 = 100;

/// Values in one answer, in bytes. What is beyond is left out, and said.
const MOST_BYTES: u64 = 1 << 20;

/// Entries that are looked at for one page of a list.
const LOOKED_AT_ONCE: u32 = 500;
const MOST_LOOKS: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RetrieveArguments {
    key: String,
    /// Where it is kept; `default` without it.
    namespace: Option<String>,
}

pub(super) async fn retrieve(
    state: &State,
    asking: Asking<'_>,
    arguments: RetrieveArguments,
) -> Result<Shown, Stop> {
    let place = place(state, arguments.namespace, arguments.key)?;
    let owner = state.owner(asking.caller());
    match state.kept.get(&owner, &place).await? {
        Some(entry) => Ok(Shown::new(state, entry)),
        None => Err(Stop::fault(format!(
            "nothing is kept under `{}` in the namespace `{}`; `search` finds entries by their \
             words, `list` shows the keys",
            place.key, place.namespace
        ))),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// A glob that the keys fit; all keys without it.
    pattern: Option<String>,
    /// Only there; everywhere without it.
    namespace: Option<String>,
    /// Only entries that have all of these.
    #[serde(default)]
    tags: Vec<String>,
    /// How many; 100 without it, 1000 at most.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// Where to go on: the `next_cursor` of the answer before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct List {
    entries: Vec<Listed>,
    /// There may be more: ask again with this as `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) async fn list(
    state: &State,
    asking: Asking<'_>,
    arguments: ListArguments,
) -> Result<List, Stop> {
    let pattern = arguments.pattern.as_deref().map(Pattern::new);
    let pattern = pattern.transpose().map_err(Stop::Fault)?;
    let after = arguments.cursor.as_deref().map(read_cursor).transpose()?;
    let scan = EntryRange {
        namespace: maybe_namespace(arguments.namespace)?,
        key_prefix: pattern.as_ref().map_or("", |one| &one.prefix).to_owned(),
        after,
        limit: LOOKED_AT_ONCE,
    };
    let fits = |entry: &EntrySummary| {
        let key_fits = pattern.as_ref().is_none_or(|one| one.fits(&entry.id.key));
        key_fits && arguments.tags.iter().all(|tag| entry.tags.contains(tag))
    };
    let limit = arguments.limit.unwrap_or(LISTED).clamp(1, MOST_LISTED);
    let owner = state.owner(asking.caller());
    let (entries, next) = page(state, &owner, scan, limit, fits).await?;
    Ok(List {
        entries: entries
            .into_iter()
            .map(|one| Listed::new(state, one))
            .collect(),
        next_cursor: next.map(|place| format!("{}/{}", place.namespace, place.key)),
    })
}

/// The next entries that fit, and after which one to go on. Looks at a bounded number of them.
async fn page(
    state: &State,
    owner: &EntryOwner,
    mut scan: EntryRange,
    limit: u32,
    fits: impl Fn(&EntrySummary) -> bool,
) -> Result<(Vec<EntrySummary>, Option<EntryId>), Stop> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut entries = Vec::new();
    for _ in 0..MOST_LOOKS {
        let looked_at = state.kept.list(owner, &scan).await?;
        let is_last = looked_at.len() < usize::try_from(scan.limit).unwrap_or(usize::MAX);
        for entry in looked_at {
            if entries.len() == limit && fits(&entry) {
                return Ok((entries, scan.after));
            }
            scan.after = Some(entry.id.clone());
            if fits(&entry) {
                entries.push(entry);
            }
        }
        if is_last {
            return Ok((entries, None));
        }
    }
    Ok((entries, scan.after))
}

/// No namespace has a slash, so the first one divides.
fn read_cursor(text: &str) -> Result<EntryId, Stop> {
    let parts = text.split_once('/');
    let place = parts.map(|(namespace, key)| EntryId {
        namespace: namespace.to_owned(),
        key: key.to_owned(),
    });
    place.ok_or_else(|| Stop::fault("`cursor` must be the `next_cursor` of the answer before"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// The words to look for. Nothing in it is syntax.
    query: String,
    /// How many; 10 without it, 100 at most.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only there; everywhere without it.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Matches {
    /// The best first.
    matches: Vec<Shown>,
    /// The URIs of matches that are too large for this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    too_large: Vec<String>,
}

pub(super) async fn search(
    state: &State,
    asking: Asking<'_>,
    arguments: SearchArguments,
) -> Result<Matches, Stop> {
    let search = TextQuery {
        text: arguments.query,
        namespace: maybe_namespace(arguments.namespace)?,
        limit: arguments.limit.unwrap_or(FOUND).clamp(1, MOST_FOUND),
    };
    let owner = state.owner(asking.caller());
    let mut answer = Matches {
        matches: Vec::new(),
        too_large: Vec::new(),
    };
    let mut bytes = 0;
    for entry in state.kept.search(&owner, &search).await? {
        if bytes + entry.size > MOST_BYTES {
            answer.too_large.push(state.uris.entry(&entry.id));
            continue;
        }
        bytes += entry.size;
        answer.matches.push(Shown::new(state, entry));
    }
    Ok(answer)
}
