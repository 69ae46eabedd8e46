//! The report of how much a caller keeps.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tidegate_core::{Caller, Result};
use tidegate_store::UnixMillis;
use tidegate_store::memory::MemoryUsage;

use super::State;

/// What expires within this time is told.
const SOON: Duration = Duration::from_secs(3600);

/// Namespaces that are counted one by one.
const MOST_NAMESPACES: u32 = 100;

/// How much one principal keeps (S0.16).
#[derive(Serialize)]
pub(super) struct Stats {
    total_entries: u64,
    /// Such as `2.1KB`.
    storage_size: String,
    storage_bytes: u64,
    /// Entries that expire within the hour.
    expiring_soon: u64,
    /// The first hundred, by their names.
    namespaces: BTreeMap<String, Amount>,
    quota: MemoryQuota,
}

#[derive(Serialize)]
struct Amount {
    entries: u64,
    size: String,
}

#[derive(Serialize)]
struct MemoryQuota {
    entries: usize,
    size: String,
    bytes: usize,
}

impl Stats {
    pub(super) async fn of(state: &State, caller: &Caller) -> Result<Self> {
        let until = UnixMillis::now().plus(SOON);
        let owner = state.owner(caller);
        let kept = state.kept.usage(&owner, until, MOST_NAMESPACES).await?;
        let amount = |MemoryUsage { entries, bytes }| Amount {
            entries,
            size: human(bytes),
        };
        let namespaces = kept.namespaces.into_iter();
        Ok(Self {
            total_entries: kept.total.entries,
            storage_size: human(kept.total.bytes),
            storage_bytes: kept.total.bytes,
            expiring_soon: kept.expiring,
            namespaces: namespaces
                .map(|(name, usage)| (name, amount(usage)))
                .collect(),
            quota: MemoryQuota {
                entries: state.limits.max_entries,
                size: human(state.limits.max_bytes as u64),
                bytes: state.limits.max_bytes,
            },
        })
    }
}

/// Bytes as people say them: `512B`, `2.1KB`.
pub(super) fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    // In tenths, rounded, so that no float is needed.
    let mut tenths = (bytes.saturating_mul(10) + 512) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths = (tenths + 512) / 1024;
        unit += 1;
    }
    format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Two numbers of bytes as people say them, exactly where they would look the same.
pub(super) fn apart(one: u64, other: u64) -> [String; 2] {
    let both = [one, other];
    match human(one) == human(other) {
        true => both.map(|bytes| format!("{bytes} bytes")),
        false => both.map(human),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.16.
    #[test]
    fn sizes_are_for_people() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (2150, "2.1KB"),
            (1 << 20, "1.0MB"),
            (64 << 20, "64.0MB"),
            (3 << 30, "3.0GB"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }

    #[test]
    fn sizes_that_differ_look_different() {
        assert_eq!(
            apart((1 << 20) + 1, 1 << 20),
            ["1048577 bytes", "1048576 bytes"]
        );
        assert_eq!(apart(2 << 20, 1 << 20), ["2.0MB", "1.0MB"]);
    }
}
