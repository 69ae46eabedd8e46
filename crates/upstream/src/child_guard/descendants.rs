//! The descendants of this process.
//!
//! Must not know: why they are signalled.

use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Sends a signal to every descendant.
pub(super) fn signal(signal: Signal) {
    for pid in descendants() {
        // It may have exited meanwhile.
        kill_process(pid, signal).ok();
    }
}

fn descendants() -> Vec<Pid> {
    let processes = processes();
    let mut family = vec![getpid()];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = processes.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    family.split_off(1)
}

/// Every process and its parent.
fn processes() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let processes = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        Some((Pid::from_raw(pid)?, parent(&stat)?))
    });
    processes.collect()
}

/// The parent in a line `pid (name) state parent …`, where the name may contain any character.
fn parent(stat: &[u8]) -> Option<Pid> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    Pid::from_raw(fields.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_look_like_the_fields_after_it() {
        let stat = b"7 (a) R 1 (b) S 42 7 7 0 -1";
        assert_eq!(parent(stat), Pid::from_raw(42));
        assert_eq!(parent(b"7 (a) S 0 7"), None, "init has no parent");
        assert_eq!(parent(b"nonsense"), None);
    }
}
