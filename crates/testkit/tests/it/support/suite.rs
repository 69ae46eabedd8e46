//! Runs the official conformance suite against a fixture and reads its checks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tidegate_testkit::wait_up_to;
use tokio::process::Command;

/// Succeeds even without any response.
const ALWAYS: &str = "wire-schema-valid";

/// The length of the time stamp after the scenario in the name of its folder.
const STAMP: usize = "-2026-07-28T00-00-00-000Z".len();

/// How long a run may take.
const LIMIT: Duration = Duration::from_secs(300);

/// The suite.
pub(crate) struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Panics with instructions if the suite is not set up.
    #[track_caller]
    pub(crate) fn find() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let script = "node/node_modules/@modelcontextprotocol/conformance/dist/index.js";
        match (variable("TIDEGATE_TOOLS"), variable("TIDEGATE_NODE")) {
            (Some(tools), Some(node)) if tools.join(script).is_file() && node.is_file() => Self {
                script: tools.join(script),
                node,
            },
            (tools, node) => panic!(
                "the conformance suite is not set up (TIDEGATE_TOOLS is {tools:?}, TIDEGATE_NODE \
                 is {node:?}). Run `cargo xtask test`, which sets it up and runs every test; or \
                 run `cargo xtask tools` first, and then `TIDEGATE_TOOLS=$PWD/target/tools \
                 TIDEGATE_NODE=$(command -v node) cargo test -p tidegate-testkit` with Node 22 or \
                 newer"
            ),
        }
    }

    /// Runs every scenario for a revision; returns their failures, empty for a passed scenario.
    pub(crate) async fn run(&self, url: &str, revision: &str) -> BTreeMap<String, String> {
        let folder = TempDir::with_prefix("tidegate-fixture-").unwrap();
        let running = Command::new(&self.node)
            .arg(&self.script)
            .args(["server", "--url", url, "--requirements", revision, "-o"])
            .arg(folder.path())
            .kill_on_drop(true)
            .output();
        let ended = wait_up_to(LIMIT, "the conformance suite", running)
            .await
            .unwrap();
        let results: BTreeMap<_, _> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| read_checks(&entry.unwrap().path()))
            .collect();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(!results.is_empty(), "the suite wrote no checks: {stderr}");
        results
    }
}

/// The name of a scenario and its failures.
fn read_checks(folder: &Path) -> (String, String) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let name = name.strip_prefix("server-").unwrap();
    let name = name[..name.len() - STAMP].to_owned();
    let text = fs::read_to_string(folder.join("checks.json")).unwrap();
    let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut failures: Vec<String> = checks
        .iter()
        .filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING")
        .map(|check| format!("{} {}", check["id"], check["errorMessage"]))
        .collect();
    let succeeded = |check: &Value| check["status"] == "SUCCESS" && check["id"] != ALWAYS;
    if !checks.iter().any(succeeded) {
        failures.push("no check succeeded".to_owned());
    }
    (name, failures.join("; "))
}
