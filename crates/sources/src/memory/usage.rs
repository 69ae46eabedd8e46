//! The report of a caller's usage.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tidegate_core::{Caller, Result};
use tidegate_store::UnixMillis;
use tidegate_store::memory::MemoryUsage;

use super::byte_size::format_bytes;
use super::state::MemoryState;

/// Entries that expire within this time count as expiring soon.
const EXPIRING_SOON: Duration = Duration::from_secs(3600);

const MAX_NAMESPACES: u32 = 100;

/// The usage of one principal (S0.16).
#[derive(Serialize)]
pub(super) struct UsageReport {
    total_entries: u64,
    /// For instance `2.1KB`.
    storage_size: String,
    storage_bytes: u64,
    /// Entries that expire within an hour.
    expiring_soon: u64,
    /// The first hundred, by name.
    namespaces: BTreeMap<String, NamespaceUsage>,
    quota: QuotaReport,
}

#[derive(Serialize)]
struct NamespaceUsage {
    entries: u64,
    size: String,
}

#[derive(Serialize)]
struct QuotaReport {
    entries: usize,
    size: String,
    bytes: usize,
}

impl UsageReport {
    pub(super) async fn of(state: &MemoryState, caller: &Caller) -> Result<Self> {
        let expiring_before = UnixMillis::now().plus(EXPIRING_SOON);
        let owner = state.owner(caller);
        let usage = state.entries.usage(&owner, expiring_before, MAX_NAMESPACES);
        let usage = usage.await?;
        let of_namespace = |MemoryUsage { entries, bytes }| NamespaceUsage {
            entries,
            size: format_bytes(bytes),
        };
        let namespaces = usage.namespaces.into_iter();
        Ok(Self {
            total_entries: usage.total.entries,
            storage_size: format_bytes(usage.total.bytes),
            storage_bytes: usage.total.bytes,
            expiring_soon: usage.expiring,
            namespaces: namespaces
                .map(|(name, usage)| (name, of_namespace(usage)))
                .collect(),
            quota: QuotaReport {
                entries: state.limits.max_entries,
                size: format_bytes(state.limits.max_bytes as u64),
                bytes: state.limits.max_bytes,
            },
        })
    }
}
