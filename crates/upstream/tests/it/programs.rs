//! Programs where no child_guard is at hand: in a process that is not the program.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;
use tidegate_core::{Seal, Source as _};
use tidegate_testkit::{fixture, wait_until};
use tidegate_upstream::{
    Command, EraSetting, ListObserver, Remote, RemoteConfig, Sharing, TransportConfig,
};

/// A server that has started something and tells who both are.
fn family(dir: &Path, flags: &str) -> Remote {
    let script = format!(
        "sleep 1000 & echo $! $$ > {}; exec {} {flags}",
        dir.join("family").display(),
        fixture::program().display(),
    );
    Remote::new(RemoteConfig {
        name: "family".to_owned(),
        transport: TransportConfig::Stdio(Command {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script],
            env: Vec::new(),
            folder: None,
            child_guard: None,
        }),
        speaks: EraSetting::Auto,
        connect_timeout: Duration::from_secs(60),
        list_wait: Duration::from_secs(60),
        max_message_bytes: 1 << 20,
        sharing: Sharing::default(),
        max_connections: 16,
        parked_call_timeout: Duration::from_secs(60),
        seal: Arc::new(Seal::random()),
        listed: ListObserver::default(),
    })
}

fn members(dir: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(dir.join("family")).unwrap();
    let numbers = text
        .split_whitespace()
        .map(|number| number.parse().unwrap());
    numbers
        .map(|number| Pid::from_raw(number).unwrap())
        .collect()
}

fn is_gone(member: Pid) -> bool {
    // What has ended but belongs to nobody may never be noticed by the system's first process.
    let stat = fs::read_to_string(format!("/proc/{}/stat", member.as_raw_nonzero()));
    test_kill_process(member).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

/// Both are there, and both are gone when it was stopped.
async fn lives_and_ends(flags: &str) {
    let dir = TempDir::new().unwrap();
    let remote = Arc::new(family(dir.path(), flags));
    let running = Arc::clone(&remote);
    let running = tokio::spawn(async move { running.run().await });
    remote.ready().await;
    let members = members(dir.path());
    assert_eq!(members.len(), 2);
    assert!(!members.iter().any(|member| is_gone(*member)));
    running.abort();
    remote.stop().await;
    for member in members {
        wait_until("its end", async || is_gone(member)).await;
    }
}

#[tokio::test]
async fn a_server_ends_with_all_that_it_has_started() {
    lives_and_ends("").await;
}

#[tokio::test]
async fn a_server_that_does_not_want_to_end_ends_too() {
    lives_and_ends("--ignore-termination").await;
}
