//! The configuration of a `memory` source.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{ByteSize, Checker, Section, in_range};

use super::{Limits, Memory};
use crate::kind::{BuildContext, BuiltSource, SourceConfig, SourceSection};

const MAX_ENTRIES: usize = 10_000;
const MAX_BYTES: ByteSize = ByteSize::mib(64);
const MAX_KEY_BYTES: ByteSize = ByteSize(512);
const MAX_VALUE_BYTES: ByteSize = ByteSize::mib(1);
const MAX_TAGS: usize = 32;
const MAX_TAG_BYTES: ByteSize = ByteSize(64);

const ENTRIES_RANGE: RangeInclusive<usize> = 1..=1_000_000;
const BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize::kib(1)..=ByteSize::mib(64 << 10);
const KEY_BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize(8)..=ByteSize::kib(4);
const VALUE_BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize(64)..=ByteSize::mib(64);
const TAGS_RANGE: RangeInclusive<usize> = 0..=1_000;
const TAG_BYTES_RANGE: RangeInclusive<ByteSize> = ByteSize(1)..=ByteSize::kib(1);

/// A key-value memory for models. Each principal sees only its own entries.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub struct MemorySection {
    /// How much each principal may store.
    quota: Option<QuotaSection>,
}

/// How much each principal may store.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
struct QuotaSection {
    /// Maximum number of entries of one principal.
    #[schemars(extend("default" = MAX_ENTRIES), transform = in_range(ENTRIES_RANGE))]
    max_entries: Option<usize>,
    /// Maximum size of all entries of one principal: keys, values and tags.
    #[schemars(extend("default" = MAX_BYTES), transform = in_range(BYTES_RANGE))]
    max_bytes: Option<ByteSize>,
    /// Maximum size of a key.
    #[schemars(extend("default" = MAX_KEY_BYTES), transform = in_range(KEY_BYTES_RANGE))]
    max_key_bytes: Option<ByteSize>,
    /// Maximum size of a value.
    #[schemars(extend("default" = MAX_VALUE_BYTES), transform = in_range(VALUE_BYTES_RANGE))]
    max_value_bytes: Option<ByteSize>,
    /// Maximum number of tags of an entry.
    #[schemars(extend("default" = MAX_TAGS), transform = in_range(TAGS_RANGE))]
    max_tags: Option<usize>,
    /// Maximum size of a tag.
    #[schemars(extend("default" = MAX_TAG_BYTES), transform = in_range(TAG_BYTES_RANGE))]
    max_tag_bytes: Option<ByteSize>,
}

/// How much each principal may store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryConfig {
    pub limits: Limits,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            limits: Limits {
                max_entries: MAX_ENTRIES,
                max_bytes: MAX_BYTES.into(),
                max_key_bytes: MAX_KEY_BYTES.into(),
                max_value_bytes: MAX_VALUE_BYTES.into(),
                max_tags: MAX_TAGS,
                max_tag_bytes: MAX_TAG_BYTES.into(),
            },
        }
    }
}

impl Section for MemorySection {
    type Config = MemoryConfig;

    fn check(self, checker: &mut Checker<'_>) -> Option<MemoryConfig> {
        let quota = self.quota.unwrap_or_default();
        let default = MemoryConfig::default().limits;
        let limits = Limits {
            max_entries: checker.in_range(
                "quota.max_entries",
                quota.max_entries,
                default.max_entries,
                ENTRIES_RANGE,
            ),
            max_bytes: checker.in_range(
                "quota.max_bytes",
                quota.max_bytes,
                default.max_bytes,
                BYTES_RANGE,
            ),
            max_key_bytes: checker.in_range(
                "quota.max_key_bytes",
                quota.max_key_bytes,
                default.max_key_bytes,
                KEY_BYTES_RANGE,
            ),
            max_value_bytes: checker.in_range(
                "quota.max_value_bytes",
                quota.max_value_bytes,
                default.max_value_bytes,
                VALUE_BYTES_RANGE,
            ),
            max_tags: checker.in_range(
                "quota.max_tags",
                quota.max_tags,
                default.max_tags,
                TAGS_RANGE,
            ),
            max_tag_bytes: checker.in_range(
                "quota.max_tag_bytes",
                quota.max_tag_bytes,
                default.max_tag_bytes,
                TAG_BYTES_RANGE,
            ),
        };
        Some(MemoryConfig { limits })
    }
}

impl SourceSection for MemorySection {
    const KIND: &'static str = "memory";
}

impl SourceConfig for MemoryConfig {
    fn build(&self, context: &BuildContext<'_>) -> Option<BuiltSource> {
        let memory = Memory::new(context.id, self.limits, context.store.get());
        Some(BuiltSource::new(memory, Memory::run))
    }
}
