//! A memory in the file: how much each principal may keep.
//!
//! Knows how that is written and between what it may lie; keeps nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_sources::memory::Limits;

use super::conduct::Within;
use super::forms::Size;
use super::problem::Diagnostics;
use super::read::read;
use super::tree::Node;

const ENTRIES: usize = 10_000;
const BYTES: Size = Size::mib(64);
const KEY_BYTES: Size = Size(512);
const VALUE_BYTES: Size = Size::mib(1);
const TAGS: usize = 32;
const TAG_BYTES: Size = Size(64);

/// A memory as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawMemory {
    /// Of kind `memory`: how much each principal may keep, and how large it may be.
    quota: Option<RawQuota>,
}

/// How much each principal may keep.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
struct RawQuota {
    /// Entries of one principal.
    #[schemars(extend("default" = ENTRIES))]
    entries: Option<usize>,
    /// Bytes of all entries of one principal: their keys, values and tags.
    #[schemars(extend("default" = BYTES))]
    bytes: Option<Size>,
    /// Bytes of one key.
    #[schemars(extend("default" = KEY_BYTES))]
    key_bytes: Option<Size>,
    /// Bytes of one value.
    #[schemars(extend("default" = VALUE_BYTES))]
    value_bytes: Option<Size>,
    /// Tags of one entry.
    #[schemars(extend("default" = TAGS))]
    tags: Option<usize>,
    /// Bytes of one tag.
    #[schemars(extend("default" = TAG_BYTES))]
    tag_bytes: Option<Size>,
}

/// The limits of a memory that says nothing.
pub(super) fn shipped() -> Limits {
    Limits {
        entries: ENTRIES,
        bytes: BYTES.into(),
        key_bytes: KEY_BYTES.into(),
        value_bytes: VALUE_BYTES.into(),
        tags: TAGS,
        tag_bytes: TAG_BYTES.into(),
    }
}

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_memory(node: Node, name: &str, diagnostics: &mut Diagnostics) -> Option<Limits> {
    let raw: RawMemory = read(node, name, diagnostics)?;
    let id = name.strip_prefix("sources.").unwrap_or(name);
    let path = ["sources", id, "quota"];
    let (raw, shipped) = (raw.quota.unwrap_or_default(), shipped());
    let mut within = Within {
        path: &path,
        diagnostics,
    };
    Some(Limits {
        entries: within.or("entries", raw.entries, shipped.entries, 1..=1_000_000),
        bytes: within.or(
            "bytes",
            raw.bytes,
            shipped.bytes,
            Size::kib(1)..=Size::mib(64 << 10),
        ),
        key_bytes: within.or(
            "key_bytes",
            raw.key_bytes,
            shipped.key_bytes,
            Size(8)..=Size::kib(4),
        ),
        value_bytes: within.or(
            "value_bytes",
            raw.value_bytes,
            shipped.value_bytes,
            Size(64)..=Size::mib(64),
        ),
        tags: within.or("tags", raw.tags, shipped.tags, 0..=1_000),
        tag_bytes: within.or(
            "tag_bytes",
            raw.tag_bytes,
            shipped.tag_bytes,
            Size(1)..=Size::kib(1),
        ),
    })
}
