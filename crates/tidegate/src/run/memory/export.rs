//! Prints every entry, one per line.

use std::io::{self, BufWriter, Write as _};

use tidegate_sources::memory::Record;
use tidegate_store::memory::EntryRange;

use super::database::{OwnedMemory, database_error};

/// Entries per query.
const PAGE_SIZE: u32 = 500;

/// Prints the entries. The inner result is the result of writing to stdout.
pub(super) async fn run(
    memory: &OwnedMemory,
    namespace: Option<String>,
) -> anyhow::Result<io::Result<()>> {
    let mut out = BufWriter::new(io::stdout());
    let mut range = EntryRange {
        namespace,
        limit: PAGE_SIZE,
        ..EntryRange::default()
    };
    loop {
        let page = memory.entries.list(&memory.owner, &range).await;
        let page = page.map_err(|error| database_error(&error))?;
        let Some(last) = page.last() else {
            return Ok(out.flush());
        };
        range.after = Some(last.id.clone());
        for summary in page {
            let entry = memory.entries.get(&memory.owner, &summary.id).await;
            // An entry can expire or be deleted in the meantime.
            let Some(entry) = entry.map_err(|error| database_error(&error))? else {
                continue;
            };
            let line = Record::from(entry).to_line()?;
            if let Err(error) = writeln!(out, "{line}") {
                return Ok(Err(error));
            }
        }
    }
}
