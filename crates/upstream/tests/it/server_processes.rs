//! Server processes without a child guard, as in a process that is not the gateway's executable.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;
use tidegate_core::{Health, Seal, Source as _};
use tidegate_testkit::{fixture, wait_until};
use tidegate_upstream::{
    Command, EraSetting, ListObserver, Remote, RemoteConfig, Sharing, TransportConfig,
};
use tokio::task::JoinHandle;

use crate::support::TIMEOUT;

fn remote(script: String, env: Vec<(String, String)>) -> Arc<Remote> {
    Arc::new(Remote::new(RemoteConfig {
        name: "server".to_owned(),
        transport: TransportConfig::Stdio(Command {
            env,
            ..Command::new("sh", vec!["-c".to_owned(), script])
        }),
        era: EraSetting::Auto,
        connect_timeout: Duration::from_secs(60),
        list_wait: Duration::from_secs(60),
        max_message_bytes: 1 << 20,
        sharing: Sharing::default(),
        max_processes: 64,
        max_processes_per_principal: 16,
        idle_timeout: Duration::from_secs(300),
        parked_call_timeout: Duration::from_secs(60),
        seal: Arc::new(Seal::generate()),
        saved_catalog: None,
        listed: ListObserver::default(),
    }))
}

/// Runs a source until its first attempt to connect has succeeded or failed.
async fn run_until_ready(remote: &Arc<Remote>) -> JoinHandle<()> {
    let running = Arc::clone(remote);
    let running = tokio::spawn(async move { running.run().await });
    let ready = tokio::time::timeout(TIMEOUT, remote.ready()).await;
    ready.expect("the first attempt ends");
    running
}

/// A server that has started another process. The ids of both are written to a file.
fn server_with_child(dir: &Path, flags: &str) -> Arc<Remote> {
    let script = format!(
        "sleep 1000 & echo $! $$ > {}; exec {} {flags}",
        dir.join("processes").display(),
        fixture::program().display(),
    );
    remote(script, Vec::new())
}

fn process_ids(dir: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(dir.join("processes")).unwrap();
    let numbers = text
        .split_whitespace()
        .map(|number| number.parse().unwrap());
    numbers
        .map(|number| Pid::from_raw(number).unwrap())
        .collect()
}

fn is_gone(process: Pid) -> bool {
    // An orphaned zombie may never be reaped by init.
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    test_kill_process(process).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

/// Both processes run until the source is stopped, and are gone after that.
async fn both_processes_end(flags: &str) {
    let dir = TempDir::new().unwrap();
    let remote = server_with_child(dir.path(), flags);
    let running = run_until_ready(&remote).await;
    let processes = process_ids(dir.path());
    assert_eq!(processes.len(), 2);
    assert!(!processes.iter().any(|process| is_gone(*process)));
    running.abort();
    remote.stop().await;
    for process in processes {
        wait_until("the process is gone", async || is_gone(process)).await;
    }
}

#[tokio::test]
async fn a_server_process_ends_with_its_descendants() {
    both_processes_end("").await;
}

#[tokio::test]
async fn a_server_process_that_ignores_termination_is_killed() {
    both_processes_end("--ignore-termination").await;
}

#[tokio::test]
async fn a_server_that_fails_to_start_shows_its_command_status_and_stderr() {
    let script =
        "for n in $(seq 1 29); do echo \"line $n.\" >&2; done; echo \"$TOKEN\" >&2; exit 3";
    let env = vec![("TOKEN".to_owned(), "a-secret".to_owned())];
    let remote = remote(script.to_owned(), env);
    let running = run_until_ready(&remote).await;
    let Health::Critical(reason) = remote.health() else {
        panic!("{:?}", remote.health());
    };
    let details = remote.failure_details().unwrap();
    running.abort();
    assert!(
        !reason.contains("line "),
        "only for administrators: {reason}"
    );
    assert!(details.contains("exit status: 3"), "{details}");
    assert!(details.contains("command: sh -c for n in"), "{details}");
    assert!(details.contains("stderr:\nline 11.\n"), "{details}");
    assert!(details.ends_with("line 29.\n***"), "{details}");
    assert!(!details.contains("line 10.") && !details.contains("a-secret"));
}
