//! A gateway as a process of its own, with one source behind it.
//!
//! Must not know: what is asked of it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::{Client, soon};

/// What stands before the address in the line that says where it listens.
const LISTENING: &str = "listening on http://";

/// The name of the one source.
const SOURCE: &str = "server";

/// A gateway at work. Dropped before it is stopped, it is killed.
pub(super) struct Gateway {
    process: Child,
    address: SocketAddr,
    /// Its configuration and its data.
    _folder: TempDir,
}

impl Gateway {
    /// Starts it on a free port, before the server at this address.
    pub(super) async fn start(program: &Path, url: &str) -> Self {
        let folder = TempDir::with_prefix("tidegate-driver-").expect("a folder");
        let config = json!({
            "limits": { "startup_wait": "20s" },
            "sources": { SOURCE: { "url": url } },
        });
        let file = folder.path().join("tidegate.yaml");
        std::fs::write(&file, config.to_string()).expect("room for a file");
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(&file)
            .arg("--data-dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", program.display()));
        let log = process.stderr.take().expect("its log is piped");
        let mut log = BufReader::new(log).lines();
        let address = soon("the gateway to listen", address(&mut log)).await;
        tokio::spawn(pass_on(log));
        Self {
            process,
            address,
            _folder: folder,
        }
    }

    /// A client of the one source, under its own names.
    pub(super) fn client(&self) -> Client {
        Client::new(self.address).at(&format!("/mcp/{SOURCE}"))
    }

    /// Asks it to stop, and waits until it has.
    pub(super) async fn stop(mut self) {
        let id = self.process.id().and_then(|id| id.try_into().ok());
        let id = id.and_then(Pid::from_raw).expect("it is still there");
        kill_process(id, Signal::TERM).expect("it takes a signal");
        let ended = soon("the gateway to stop", self.process.wait()).await;
        let status = ended.expect("it can be waited for");
        assert!(status.success(), "the gateway ended badly: {status}");
    }
}

async fn address(log: &mut Lines<BufReader<ChildStderr>>) -> SocketAddr {
    while let Ok(Some(line)) = log.next_line().await {
        say(&line);
        let rest = line.split_once(LISTENING).map(|(_, rest)| rest);
        if let Some((address, _)) = rest.and_then(|rest| rest.split_once('/')) {
            return address.parse().expect("an address");
        }
    }
    panic!("the gateway ended before it listened");
}

/// Its log is part of ours.
async fn pass_on(mut log: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(line)) = log.next_line().await {
        say(&line);
    }
}

#[expect(clippy::print_stderr, reason = "the suite keeps what is said here")]
fn say(line: &str) {
    eprintln!("{line}");
}
