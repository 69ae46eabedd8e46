//! Keeps every entry of a file: all lines are checked before the first is kept.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

use anyhow::Context as _;
use tidegate_sources::memory::Record;
use tidegate_store::Millis;
use tidegate_store::memory::Draft;

use super::Kept;

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
    let drafts = drafts.map_err(|Wrong { line, message }| {
        anyhow::anyhow!("{name}:{line}: {message}; nothing was kept")
    })?;
    let now = Millis::now();
    let (mut done, mut expired) = (0, 0);
    for (line, draft) in drafts {
        if draft.expires.is_some_and(|at| at <= now) {
            expired += 1;
            continue;
        }
        let put = kept.memories.put(&kept.owner, &draft, kept.limits.quota());
        if let Some(refusal) = kept.limits.refusal(put.await?) {
            anyhow::bail!("{name}:{line}: {refusal}; {done} entries before it were kept");
        }
        done += 1;
    }
    let entries = if done == 1 { "entry" } else { "entries" };
    let left_out = match expired {
        0 => String::new(),
        expired => format!(", left out {expired} that had expired"),
    };
    let owner = &kept.owner.principal;
    Ok(writeln!(
        io::stdout(),
        "kept {done} {entries} for {owner}{left_out}"
    ))
}

/// A line that is no entry that can be kept.
struct Wrong {
    line: usize,
    message: String,
}

/// The entries with the numbers of their lines.
fn read(kept: &Kept, mut input: impl BufRead) -> Result<Vec<(usize, Draft)>, Wrong> {
    let mut drafts = Vec::new();
    let longest = kept.limits.value_bytes.saturating_add(BESIDE);
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
        if drafts.len() == kept.limits.entries {
            let most = kept.limits.entries;
            return Err(wrong(format!("more entries than the quota of {most}")));
        }
        drafts.push((line, draft));
    }
    Ok(drafts)
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
