//! A memory in the file: how much each principal may keep.
//!
//! Knows how that is written and between what it may lie; keeps nothing.

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_sources::memory::Limits;

use super::policy::Within;
use super::problem::Diagnostics;
use super::read::read;
use super::tree::Node;
use super::units::Size;

const MAX_ENTRIES: usize = 10_000;
const MAX_BYTES: Size = Size::mib(64);
const MAX_KEY_BYTES: Size = Size(512);
const MAX_VALUE_BYTES: Size = Size::mib(1);
const MAX_TAGS: usize = 32;
const MAX_TAG_BYTES: Size = Size(64);

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
    #[schemars(extend("default" = MAX_ENTRIES))]
    max_entries: Option<usize>,
    /// Bytes of all entries of one principal: their keys, values and tags.
    #[schemars(extend("default" = MAX_BYTES))]
    max_bytes: Option<Size>,
    /// Bytes of one key.
    #[schemars(extend("default" = MAX_KEY_BYTES))]
    max_key_bytes: Option<Size>,
    /// Bytes of one value.
    #[schemars(extend("default" = MAX_VALUE_BYTES))]
    max_value_bytes: Option<Size>,
    /// Tags of one entry.
    #[schemars(extend("default" = MAX_TAGS))]
    max_tags: Option<usize>,
    /// Bytes of one tag.
    #[schemars(extend("default" = MAX_TAG_BYTES))]
    max_tag_bytes: Option<Size>,
}

/// The limits of a memory that says nothing.
pub(super) fn shipped() -> Limits {
    Limits {
        max_entries: MAX_ENTRIES,
        max_bytes: MAX_BYTES.into(),
        max_key_bytes: MAX_KEY_BYTES.into(),
        max_value_bytes: MAX_VALUE_BYTES.into(),
        max_tags: MAX_TAGS,
        max_tag_bytes: MAX_TAG_BYTES.into(),
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
        max_entries: within.or(
            "max_entries",
            raw.max_entries,
            shipped.max_entries,
            1..=1_000_000,
        ),
        max_bytes: within.or(
            "max_bytes",
            raw.max_bytes,
            shipped.max_bytes,
            Size::kib(1)..=Size::mib(64 << 10),
        ),
        max_key_bytes: within.or(
            "max_key_bytes",
            raw.max_key_bytes,
            shipped.max_key_bytes,
            Size(8)..=Size::kib(4),
        ),
        max_value_bytes: within.or(
            "max_value_bytes",
            raw.max_value_bytes,
            shipped.max_value_bytes,
            Size(64)..=Size::mib(64),
        ),
        max_tags: within.or("max_tags", raw.max_tags, shipped.max_tags, 0..=1_000),
        max_tag_bytes: within.or(
            "max_tag_bytes",
            raw.max_tag_bytes,
            shipped.max_tag_bytes,
            Size(1)..=Size::kib(1),
        ),
    })
}
