//! A server that keeps a browser page between calls serves two clients at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::fixture::config;
use crate::support::proc::descendants;
use crate::support::tools::Tools;
use crate::support::{Running, Server};

const SERVER: &str = "@playwright/mcp/cli.js";

fn start_gateway(tools: &Tools) -> Server {
    let chromium = tools.chromium();
    let mut command = tools.program("node", SERVER);
    command.extend(["--headless", "--isolated", "--no-sandbox"].map(str::to_owned));
    command.extend(["--executable-path".to_owned(), chromium]);
    let source = json!({ "command": command[0], "args": command[1..] });
    let gateway = Server::with_config(&config(&json!({ "browser": source })));
    gateway.process.stderr.find("source connected");
    gateway
}

/// The processes of the server.
fn servers(gateway: &Server) -> BTreeSet<u32> {
    let all = descendants(gateway.process.id()).into_iter();
    let servers =
        all.filter(|process| process.command.contains(SERVER) && !process.is_child_guard());
    servers.map(|process| process.pid).collect()
}

/// Runs `work`. Returns all processes of the server that were seen meanwhile, and the largest number
/// at one time.
fn observe(gateway: &Server, work: impl FnOnce()) -> (BTreeSet<u32>, usize) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let observer = scope.spawn(|| {
            let (mut seen, mut largest) = (BTreeSet::new(), 0);
            while !is_done.load(Ordering::Relaxed) {
                let current = servers(gateway);
                largest = largest.max(current.len());
                seen.extend(current);
                thread::sleep(Duration::from_millis(50));
            }
            (seen, largest)
        });
        // Also when `work` panics: the scope waits for the observer.
        let end = SetOnDrop(&is_done);
        work();
        drop(end);
        observer.join().unwrap()
    })
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn two_clients_at_once_have_their_own_pages_and_two_processes_in_total() {
    let tools = Tools::find();
    let gateway = start_gateway(&tools);
    let before = servers(&gateway);
    let mut peer = tools.node_peer(&gateway.home, "browser_clients.mjs");
    peer.args(["--url", &format!("{}/browser", gateway.url())]);
    let peer = Running::start(&mut peer);
    let (seen, largest) = observe(&gateway, || {
        peer.stderr.find("all calls are done");
    });
    let remaining = servers(&gateway);
    assert_eq!(remaining.len(), 2, "{remaining:?}");
    assert_eq!(largest, 2);
    // Before there was a client, one process served the lists.
    let of_clients: BTreeSet<_> = seen.difference(&before).copied().collect();
    assert_eq!(of_clients, remaining);
    let ended = peer.end().expect_code(0);
    let clicks: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(clicks, json!({ "modern": 17, "legacy": 17 }));
    gateway.stop();
}
