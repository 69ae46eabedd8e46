//! Stores the entries of a file. All lines are checked before the first entry is stored.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

use anyhow::Context as _;
use tidegate_sources::memory::Record;
use tidegate_store::UnixMillis;
use tidegate_store::memory::NewEntry;

use super::database::{OwnedMemory, database_error};

/// The maximum size of a line without its value.
const MAX_OVERHEAD: usize = 256 << 10;

pub(super) async fn run(memory: &OwnedMemory, file: &Path) -> anyhow::Result<io::Result<()>> {
    let name = file.display();
    let parsed = match file == Path::new("-") {
        true => parse(memory, io::stdin().lock()),
        false => {
            let opened = File::open(file).with_context(|| format!("cannot read {name}"))?;
            parse(memory, BufReader::new(opened))
        }
    };
    let ImportFile { entries, replaced } = parsed.map_err(|InvalidLine { line, message }| {
        anyhow::anyhow!("{name}:{line}: {message}; nothing was imported")
    })?;
    let now = UnixMillis::now();
    let (mut imported, mut expired) = (0, 0);
    for (line, entry) in entries {
        if entry.expires.is_some_and(|at| at <= now) {
            expired += 1;
            continue;
        }
        let put = memory
            .entries
            .put(&memory.owner, &entry, memory.limits.quota());
        let outcome = put.await.map_err(|error| database_error(&error))?;
        if let Some(refusal) = memory.limits.rejection(outcome) {
            let imported = count_entries(imported);
            anyhow::bail!("{name}:{line}: {refusal}; imported {imported} before this line");
        }
        imported += 1;
    }
    let skipped: String = [(replaced, "replaced by later lines"), (expired, "expired")]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!(", skipped {count} {reason}"))
        .collect();
    let imported = count_entries(imported);
    let principal = &memory.owner.principal;
    Ok(writeln!(
        io::stdout(),
        "imported {imported} for {principal}{skipped}"
    ))
}

fn count_entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}

/// The entries of a file.
#[derive(Default)]
struct ImportFile {
    /// With their line numbers.
    entries: Vec<(usize, NewEntry)>,
    /// How many lines a later line with the same key replaces.
    replaced: usize,
}

struct InvalidLine {
    line: usize,
    message: String,
}

/// Parses all lines. If a key has several lines, the last one is used.
fn parse(memory: &OwnedMemory, mut input: impl BufRead) -> Result<ImportFile, InvalidLine> {
    let mut file = ImportFile::default();
    let mut positions = HashMap::new();
    let max_line = memory.limits.max_value_bytes.saturating_add(MAX_OVERHEAD);
    for line in 1.. {
        let invalid = |message: String| InvalidLine { line, message };
        let text = next_line(&mut input, max_line).map_err(invalid)?;
        let Some(text) = text else { break };
        if text.trim().is_empty() {
            continue;
        }
        let entry = Record::parse(&text).and_then(Record::into_new_entry);
        let entry = entry.map_err(|error| invalid(error.to_string()))?;
        memory.limits.check(&entry).map_err(invalid)?;
        if let Some(&position) = positions.get(&entry.id) {
            file.entries[position] = (line, entry);
            file.replaced += 1;
            continue;
        }
        let quota = memory.limits.max_entries;
        if file.entries.len() == quota {
            return Err(invalid(format!("more entries than the quota of {quota}")));
        }
        positions.insert(entry.id.clone(), file.entries.len());
        file.entries.push((line, entry));
    }
    Ok(file)
}

/// The next line; `None` at the end of the input.
fn next_line(input: &mut impl BufRead, max_line: usize) -> Result<Option<String>, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_line).unwrap_or(u64::MAX);
    let read = io::Read::take(&mut *input, limit).read_until(b'\n', &mut bytes);
    match read.map_err(|error| error.to_string())? {
        0 => Ok(None),
        _ if bytes.len() == max_line && !bytes.ends_with(b"\n") => {
            Err(format!("the line is longer than {max_line} bytes"))
        }
        _ => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| "the line is not UTF-8".to_owned()),
    }
}
