//! All that this process has started, and what that has started in turn.
//!
//! Must not know: why it is looked for.

use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Sends a signal to each of them.
pub(super) fn signal(signal: Signal) {
    for pid in all() {
        // One that has ended meanwhile is as good as told.
        kill_process(pid, signal).ok();
    }
}

fn all() -> Vec<Pid> {
    let living = living();
    let mut found = vec![getpid()];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = living.iter().filter(|(_, its)| *its == parent);
        found.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    found.split_off(1)
}

/// Every process and its parent.
fn living() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let numbered = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        Some((Pid::from_raw(pid)?, parent(&stat)?))
    });
    numbered.collect()
}

/// The parent in a line `pid (name) state parent …`, where the name may hold anything.
fn parent(stat: &[u8]) -> Option<Pid> {
    let named = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(named + 1..)?).ok()?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_rest_of_the_line() {
        let stat = b"7 (a) R 1 (b) S 42 7 7 0 -1";
        assert_eq!(parent(stat), Pid::from_raw(42));
        assert_eq!(parent(b"7 (a) S 0 7"), None, "the first has no parent");
        assert_eq!(parent(b"nonsense"), None);
    }
}
