//! Prints every entry, one on each line.

use std::io::{self, BufWriter, Write as _};

use tidegate_sources::memory::Record;
use tidegate_store::memory::EntryRange;

use super::{Kept, told};

/// Entries that are looked at together.
const AT_ONCE: u32 = 500;

/// Prints them. What is not printed is the reader's own doing, and no failure of ours.
pub(super) async fn run(kept: &Kept, namespace: Option<String>) -> anyhow::Result<io::Result<()>> {
    let mut out = BufWriter::new(io::stdout());
    let mut scan = EntryRange {
        namespace,
        limit: AT_ONCE,
        ..EntryRange::default()
    };
    loop {
        let page = kept.memories.list(&kept.owner, &scan).await;
        let page = page.map_err(|error| told(&error))?;
        let Some(last) = page.last() else {
            return Ok(out.flush());
        };
        scan.after = Some(last.id.clone());
        for summary in page {
            // One that is gone by now has expired or was deleted.
            let entry = kept.memories.get(&kept.owner, &summary.id).await;
            let Some(entry) = entry.map_err(|error| told(&error))? else {
                continue;
            };
            let line = Record::from(entry).write()?;
            if let Err(error) = writeln!(out, "{line}") {
                return Ok(Err(error));
            }
        }
    }
}
