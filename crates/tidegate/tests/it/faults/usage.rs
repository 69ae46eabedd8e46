//! What a gateway holds: files, threads, tasks and processes. Nothing of that may grow with what
//! servers do.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::proc::{descendants, open_files, poll_for, threads, zombies};
use crate::support::{PATIENCE, Server};

/// Connections that are kept for the next call come and go; fewer than the calls of any test.
const BY_CHANCE: usize = 10;

/// What a gateway holds at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    files: usize,
    threads: usize,
    tasks: usize,
    children: Vec<String>,
    zombies: usize,
}

impl Usage {
    fn now(gateway: &Server) -> Self {
        let health = json!({ "name": "system__health", "arguments": {} });
        let health = gateway.modern("tools/call", health).result();
        let tasks = &health["structuredContent"]["metrics"]["tasks"];
        let pid = gateway.process.id();
        let mut children: Vec<_> = descendants(pid)
            .into_iter()
            .map(|one| one.command)
            .collect();
        children.sort();
        Self {
            files: open_files(pid),
            threads: threads(pid),
            tasks: tasks.as_u64().unwrap().try_into().unwrap(),
            children,
            zombies: zombies(pid),
        }
    }

    /// Once nothing goes on any more.
    pub(super) fn settled(gateway: &Server) -> Self {
        let mut before = Self::now(gateway);
        poll_for("the gateway to settle", || {
            thread::sleep(Duration::from_millis(100));
            let now = Self::now(gateway);
            let settled = now == before && now.zombies == 0 && now.all_started();
            before = now;
            settled.then(|| before.clone())
        })
    }

    /// Whether each keeper has started what it keeps.
    fn all_started(&self) -> bool {
        let keepers = self
            .children
            .iter()
            .filter(|one| one.contains(" child-guard -- "));
        keepers.count() * 2 == self.children.len()
    }

    /// Waits until the gateway holds no more than this, but for what may differ by chance.
    pub(super) fn comes_back(&self, gateway: &Server) {
        let started = Instant::now();
        loop {
            let now = Self::now(gateway);
            let is_back = now.files <= self.files + BY_CHANCE
                && now.threads <= self.threads + BY_CHANCE
                && now.tasks <= self.tasks + BY_CHANCE
                && now.children == self.children
                && now.zombies == 0;
            if is_back {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{now:#?}\nwas {self:#?}");
            thread::sleep(Duration::from_millis(100));
        }
    }
}
