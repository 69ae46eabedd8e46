//! The tools that change what is remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_store::UnixMillis;
use tidegate_store::memory::{NewEntry, PutOutcome};

use super::super::State;
use super::super::entries::{maybe_namespace, place, time};
use super::super::json::Json;
use super::super::ttl::Ttl;
use crate::declare::{Asking, Stop};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreArguments {
    /// What to find it under.
    key: String,
    /// Any JSON value; its exact text is kept.
    value: Json,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
    /// How long to keep it: seconds, or a time such as "5m", "12h" or "7days". For good without it.
    ttl: Option<Ttl>,
    /// Where to keep it; `default` without it.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Stored {
    key: String,
    namespace: String,
    /// Whether something else was there before.
    replaced: bool,
    /// Bytes that it takes of the quota.
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    uri: String,
}

pub(super) async fn store(
    state: &State,
    asking: Asking<'_>,
    arguments: StoreArguments,
) -> Result<Stored, Stop> {
    let ttl = arguments.ttl.as_ref().map(Ttl::time).transpose();
    let ttl = ttl.map_err(Stop::fault)?;
    let mut tags = arguments.tags;
    tags.sort();
    tags.dedup();
    let draft = NewEntry {
        id: place(state, arguments.namespace, arguments.key)?,
        value: arguments.value.to_raw(),
        tags,
        expires: ttl.map(|ttl| UnixMillis::now().plus(ttl)),
        timestamps: None,
    };
    state.limits.check(&draft).map_err(Stop::fault)?;
    let owner = state.owner(asking.caller());
    let put = state.kept.put(&owner, &draft, state.limits.quota()).await?;
    if let Some(refusal) = state.limits.refusal(put) {
        return Err(Stop::Fault(refusal));
    }
    Ok(Stored {
        replaced: put == PutOutcome::Replaced,
        size: draft.size(),
        expires: draft.expires.map(time),
        uri: state.uris.entry(&draft.id),
        key: draft.id.key,
        namespace: draft.id.namespace,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteArguments {
    key: String,
    /// Where it is kept; `default` without it.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// Whether there was something to delete.
    deleted: bool,
}

pub(super) async fn delete(
    state: &State,
    asking: Asking<'_>,
    arguments: DeleteArguments,
) -> Result<Deleted, Stop> {
    let place = place(state, arguments.namespace, arguments.key)?;
    let owner = state.owner(asking.caller());
    let deleted = state.kept.delete(&owner, &place).await?;
    Ok(Deleted { deleted })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClearArguments {
    /// Only what is kept there; everything without it.
    namespace: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cleared {
    /// How many entries were deleted.
    cleared: u64,
}

pub(super) async fn clear(
    state: &State,
    asking: Asking<'_>,
    arguments: ClearArguments,
) -> Result<Cleared, Stop> {
    let namespace = maybe_namespace(arguments.namespace)?;
    let owner = state.owner(asking.caller());
    let count = state.kept.count(&owner, namespace.as_deref()).await?;
    if count == 0 {
        return Ok(Cleared { cleared: 0 });
    }
    if !asking.confirmed(&question(count, namespace.as_deref()))? {
        return Err(Stop::fault(
            "the user did not agree, so nothing was deleted",
        ));
    }
    let cleared = state.kept.clear(&owner, namespace.as_deref()).await?;
    Ok(Cleared { cleared })
}

fn question(count: u64, namespace: Option<&str>) -> String {
    let what = match count {
        1 => "the only entry".to_owned(),
        count => format!("all {count} entries"),
    };
    let place = match namespace {
        None => "your memory".to_owned(),
        Some(namespace) => format!("the namespace `{namespace}` of your memory"),
    };
    format!("Delete {what} in {place}, for good?")
}
