//! Keeps every entry of a file: all lines are checked before the first is kept.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

use anyhow::Context as _;
use tidegate_sources::memory::Record;
use tidegate_store::UnixMillis;
use tidegate_store::memory::NewEntry;

use super::{Kept, told};

/// What a line has beside its value, at most.
const BESIDE: usize = 256 << 10;

pub(super) async fn run(kept: &Kept, file: &Path) -> anyhow::Result<io::Result<()>> {
    let name = file.display();
    let drafts = match file == Path::new("-") {
        true => read(kept, io::stdin().lock()),
        false => {
            let opened = File::open(file).with_context(|| format!("cannot read {name}"))?;
            read(kept, BufReader::new(opened))
        }
    };
    let Lines { drafts, replaced } = drafts.map_err(|Wrong { line, message }| {
        anyhow::anyhow!("{name}:{line}: {message}; nothing was kept")
    })?;
    let now = UnixMillis::now();
    let (mut done, mut expired) = (0, 0);
    for (line, draft) in drafts {
        if draft.expires.is_some_and(|at| at <= now) {
            expired += 1;
            continue;
        }
        let put = kept.memories.put(&kept.owner, &draft, kept.limits.quota());
        if let Some(refusal) = kept
            .limits
            .refusal(put.await.map_err(|error| told(&error))?)
        {
            let before = counted(done);
            anyhow::bail!("{name}:{line}: {refusal}; before it, {before} kept");
        }
        done += 1;
    }
    let left_out = [
        (replaced, "that a later line replaces"),
        (expired, "that had expired"),
    ];
    let left_out = left_out.iter().filter(|(count, _)| *count > 0);
    let left_out: String = left_out
        .map(|(count, why)| format!(", left out {count} {why}"))
        .collect();
    let entries = if done == 1 { "entry" } else { "entries" };
    let owner = &kept.owner.principal;
    Ok(writeln!(
        io::stdout(),
        "kept {done} {entries} for {owner}{left_out}"
    ))
}

fn counted(done: usize) -> String {
    match done {
        1 => "1 entry was".to_owned(),
        done => format!("{done} entries were"),
    }
}

/// What a file holds.
#[derive(Default)]
struct Lines {
    /// The entries with the numbers of their lines.
    drafts: Vec<(usize, NewEntry)>,
    /// Lines before them with the same keys.
    replaced: usize,
}

/// A line that is no entry that can be kept.
struct Wrong {
    line: usize,
    message: String,
}

/// Of several lines for one key the last one counts.
fn read(kept: &Kept, mut input: impl BufRead) -> Result<Lines, Wrong> {
    let mut lines = Lines::default();
    let mut places = HashMap::new();
    let longest = kept.limits.max_value_bytes.saturating_add(BESIDE);
    for line in 1.. {
        let wrong = |message: String| Wrong { line, message };
        let text = next_line(&mut input, longest).map_err(wrong)?;
        let Some(text) = text else { break };
        if text.trim().is_empty() {
            continue;
        }
        let draft = Record::read(&text).and_then(Record::draft);
        let draft = draft.map_err(|error| wrong(error.to_string()))?;
        kept.limits.check(&draft).map_err(wrong)?;
        if let Some(&at) = places.get(&draft.id) {
            lines.drafts[at] = (line, draft);
            lines.replaced += 1;
            continue;
        }
        if lines.drafts.len() == kept.limits.max_entries {
            let most = kept.limits.max_entries;
            return Err(wrong(format!("more entries than the quota of {most}")));
        }
        places.insert(draft.id.clone(), lines.drafts.len());
        lines.drafts.push((line, draft));
    }
    Ok(lines)
}

/// None at the end.
fn next_line(input: &mut impl BufRead, longest: usize) -> Result<Option<String>, String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(longest).unwrap_or(u64::MAX);
    let read = io::Read::take(&mut *input, limit).read_until(b'\n', &mut bytes);
    match read.map_err(|error| error.to_string())? {
        0 => Ok(None),
        _ if bytes.len() == longest && !bytes.ends_with(b"\n") => {
            Err("the line is longer than any entry".to_owned())
        }
        _ => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| "this is not text".to_owned()),
    }
}
