//! A gateway process with one source.
//!
//! Must not know: which requests it gets.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::{Client, wait_for};

/// Precedes the address in the log line for a listener.
const LISTENING: &str = "listening on http://";

/// The id of the source.
const SOURCE: &str = "server";

/// A running gateway. Killed if dropped before it is stopped.
pub(super) struct GatewayProcess {
    process: Child,
    address: SocketAddr,
    /// Its configuration and data.
    _folder: TempDir,
}

impl GatewayProcess {
    /// Starts it on a free port, in front of the server at this URL.
    pub(super) async fn start(program: &Path, url: &str) -> Self {
        let folder = TempDir::with_prefix("tidegate-driver-").expect("a temporary folder");
        let config = json!({
            "limits": { "startup_wait": "20s" },
            "sources": { SOURCE: { "url": url } },
        });
        let file = folder.path().join("tidegate.yaml");
        std::fs::write(&file, config.to_string()).expect("a writable folder");
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .arg("--data-dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        let log = process.stderr.take().expect("a piped stderr");
        let mut log = BufReader::new(log).lines();
        let address = wait_for("the gateway to listen", address(&mut log)).await;
        tokio::spawn(copy_log(log));
        Self {
            process,
            address,
            _folder: folder,
        }
    }

    /// A client of the source's own endpoint, with native names.
    pub(super) fn client(&self) -> Client {
        Client::new(self.address).at(&format!("/mcp/{SOURCE}"))
    }

    /// Stops it with SIGTERM and waits until it has ended.
    pub(super) async fn stop(mut self) {
        let id = self.process.id().and_then(|id| id.try_into().ok());
        let id = id.and_then(Pid::from_raw).expect("a running process");
        kill_process(id, Signal::TERM).expect("a process that accepts signals");
        let ended = wait_for("the gateway to stop", self.process.wait()).await;
        let status = ended.expect("an exit status");
        assert!(status.success(), "the gateway failed: {status}");
    }
}

async fn address(log: &mut Lines<BufReader<ChildStderr>>) -> SocketAddr {
    while let Ok(Some(line)) = log.next_line().await {
        print(&line);
        let rest = line.split_once(LISTENING).map(|(_, rest)| rest);
        if let Some((address, _)) = rest.and_then(|rest| rest.split_once('/')) {
            return address.parse().expect("an address");
        }
    }
    panic!("the gateway ended before it listened");
}

/// Copies its log to ours.
async fn copy_log(mut log: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(line)) = log.next_line().await {
        print(&line);
    }
}

#[expect(clippy::print_stderr, reason = "the suite saves the driver's stderr")]
fn print(line: &str) {
    eprintln!("{line}");
}
