//! Processes as `/proc` shows them: ancestry, open files, threads.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::PATIENCE;

/// One process, distinguished from a later one with the same id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proc {
    pub(crate) pid: u32,
    started: u64,
    pub(crate) command: String,
}

impl Proc {
    pub(crate) fn find(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(Self {
            pid,
            started: stat.started,
            command: String::from_utf8_lossy(&command).replace('\0', " "),
        })
    }

    pub(crate) fn is_child_guard(&self) -> bool {
        self.command.contains(" child-guard -- ")
    }

    /// Whether it is running. A zombie is not.
    pub(crate) fn runs(&self) -> bool {
        let stat = Stat::read(self.pid).filter(|stat| stat.started == self.started);
        stat.is_some_and(|stat| stat.state != 'Z')
    }
}

struct Stat {
    state: char,
    parent: u32,
    started: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat).into_owned();
        // The command name before it may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        Some(Self {
            state: fields[0].chars().next()?,
            parent: fields[1].parse().ok()?,
            started: fields[19].parse().ok()?,
        })
    }
}

/// Whether a child guard is among the ancestors of a process. The guard ends it when the gateway
/// is gone.
pub(crate) fn has_child_guard(pid: u32) -> bool {
    let parent = |pid| Stat::read(pid).map(|stat| stat.parent);
    let mut ancestors = std::iter::successors(parent(pid), |pid| parent(*pid));
    ancestors.any(|pid| Proc::find(pid).is_some_and(|process| process.is_child_guard()))
}

/// All descendants of a process, including zombies.
fn below(pid: u32) -> Vec<u32> {
    let all: Vec<(u32, u32)> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, Stat::read(pid)?.parent)))
        .collect();
    let (mut tree, mut next) = (vec![pid], 0);
    while let Some(&ancestor) = tree.get(next) {
        let children = all.iter().filter(|(_, parent)| *parent == ancestor);
        tree.extend(children.map(|(pid, _)| pid));
        next += 1;
    }
    tree.split_off(1)
}

/// All running descendants of a process.
pub(crate) fn descendants(pid: u32) -> Vec<Proc> {
    let all = below(pid).into_iter().filter_map(Proc::find);
    all.filter(Proc::runs).collect()
}

/// The number of zombies below a process.
pub(crate) fn zombies(pid: u32) -> usize {
    let stats = below(pid).into_iter().filter_map(Stat::read);
    stats.filter(|stat| stat.state == 'Z').count()
}

/// The number of open files and sockets of a process.
pub(crate) fn open_files(pid: u32) -> usize {
    count(pid, "fd")
}

pub(crate) fn threads(pid: u32) -> usize {
    count(pid, "task")
}

fn count(pid: u32, what: &str) -> usize {
    fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count()
}

/// The peak memory of a process, in bytes.
pub(crate) fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

/// Polls until `attempt` returns a value; panics after the timeout.
#[track_caller]
pub(crate) fn poll_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = attempt() {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "timed out waiting for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
