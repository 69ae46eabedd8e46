//! Resources of a gateway: files, threads, tasks and processes. None may grow with what servers do.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::proc::{descendants, open_files, poll_for, threads, zombies};
use crate::support::{PATIENCE, Server};

/// Tolerance for pooled connections; smaller than the number of calls of any test.
const TOLERANCE: usize = 10;

/// The resources of a gateway at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourceUsage {
    files: usize,
    threads: usize,
    tasks: usize,
    children: Vec<String>,
    zombies: usize,
}

impl ResourceUsage {
    fn now(gateway: &Server) -> Self {
        let health = json!({ "name": "system__health", "arguments": {} });
        let health = gateway.modern("tools/call", health).result();
        let tasks = &health["structuredContent"]["metrics"]["tasks"];
        let pid = gateway.process.id();
        let mut children: Vec<_> = descendants(pid)
            .into_iter()
            .map(|process| process.command)
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

    /// The resources once the gateway is idle.
    pub(super) fn when_idle(gateway: &Server) -> Self {
        let mut before = Self::now(gateway);
        poll_for("the gateway to settle", || {
            thread::sleep(Duration::from_millis(100));
            let now = Self::now(gateway);
            let when_idle = now == before && now.zombies == 0 && now.all_started();
            before = now;
            when_idle.then(|| before.clone())
        })
    }

    /// Whether each child guard has started its program.
    fn all_started(&self) -> bool {
        let guards = self
            .children
            .iter()
            .filter(|command| command.contains(" child-guard -- "));
        guards.count() * 2 == self.children.len()
    }

    /// Waits until the gateway holds no more than this, within the tolerance.
    pub(super) fn wait_for_return(&self, gateway: &Server) {
        let started = Instant::now();
        loop {
            let now = Self::now(gateway);
            let has_returned = now.files <= self.files + TOLERANCE
                && now.threads <= self.threads + TOLERANCE
                && now.tasks <= self.tasks + TOLERANCE
                && now.children == self.children
                && now.zombies == 0;
            if has_returned {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "leaked: {now:#?}\nbefore: {self:#?}"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }
}
