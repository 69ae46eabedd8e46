//! Runs the suite and reads its checks. Its exit code is not enough: several scenarios succeed
//! without having reached a server.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tidegate_testkit::{LEGACY, MODERN};

use super::list::Row;
use crate::support::tools::Tools;
use crate::support::{Home, Running};

/// Succeeds even without any response.
const ALWAYS: &str = "wire-schema-valid";

/// Timeout of a client, in milliseconds.
const CLIENT_TIMEOUT: &str = "120000";

/// The legacy revision before the newest.
pub(super) const SECOND_NEWEST_LEGACY: &str = LEGACY[2];

/// What the suite tests.
pub(super) enum Subject {
    Server {
        url: String,
    },
    /// A command that is started with the URL of a server.
    Client {
        command: String,
    },
}

pub(super) struct Suite {
    home: Home,
    tools: Tools,
}

/// The outcome of one check.
struct Check {
    id: String,
    status: String,
    message: String,
}

impl Suite {
    pub(super) fn new() -> Self {
        Self {
            home: Home::new(),
            tools: Tools::find(),
        }
    }

    /// Every server or client scenario with each of its revisions.
    pub(super) fn known(&self, subjects: &str) -> Vec<(String, String)> {
        let ended = Running::start(self.command().args(["list", subjects])).end();
        let output = ended.expect_code(0).stdout;
        let lines = output
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- "));
        let scenarios = lines.filter_map(|line| line.strip_suffix(']')?.split_once(" ["));
        let known = scenarios.flat_map(|(name, revisions)| {
            let each = revisions.split(',').map(str::trim);
            each.map(|revision| (name.to_owned(), revision.to_owned()))
        });
        known.collect()
    }

    /// Runs a scenario once; an error describes the deviations.
    pub(super) fn run_scenario(
        &self,
        subject: &Subject,
        row: &Row,
        revision: &str,
    ) -> Result<(), String> {
        let folder = TempDir::new_in(self.home.path()).unwrap();
        let mut command = self.command();
        match subject {
            Subject::Server { url } => command.args(["server", "--url", url]),
            Subject::Client { command: client } => {
                command.args(["client", "--command", client, "--timeout", CLIENT_TIMEOUT])
            }
        };
        command.args(["--scenario", row.scenario, "--spec-version"]);
        match row.is_extension() {
            true => command.args([MODERN, "--force"]),
            false => command.arg(revision),
        };
        command.arg("-o").arg(folder.path());
        let ended = Running::start(&mut command).end();
        let mut deviations = match checks(folder.path()) {
            Some(checks) => deviations(&checks),
            None => "the suite wrote no checks".to_owned(),
        };
        // A client can fail after its last check.
        if matches!(subject, Subject::Client { .. }) && ended.code() != Some(0) {
            deviations.push_str("the client failed");
        }
        if !deviations.is_empty() {
            deviations = format!("{deviations}\n{}{}", ended.stdout, ended.stderr);
        }
        match deviations.as_str() {
            "" => Ok(()),
            deviations => Err(format!("{} {revision}: {deviations}", row.scenario)),
        }
    }

    /// Runs all scenarios of a revision except those with the given prefixes; returns the
    /// deviations, including when fewer than `least` scenarios succeeded.
    pub(super) fn run_all_scenarios(
        &self,
        url: &str,
        revision: &str,
        least: usize,
        exceptions: &[&str],
    ) -> String {
        let folder = TempDir::new_in(self.home.path()).unwrap();
        let mut command = self.command();
        command.args(["server", "--url", url]);
        match revision {
            // The suite has no list of what this revision requires.
            SECOND_NEWEST_LEGACY => command.args(["--suite", "all", "--spec-version", revision]),
            _ => command.args(["--requirements", revision]),
        };
        command.arg("-o").arg(folder.path());
        let ended = Running::start(&mut command).end();
        let (mut failed_scenarios, mut succeeded_count) = (Vec::new(), 0);
        let all = all_checks(folder.path()).into_iter();
        let is_included = |name: &str| !exceptions.iter().any(|prefix| name.starts_with(prefix));
        for (scenario, checks) in all.filter(|(name, _)| is_included(name)) {
            match deviations(&checks).as_str() {
                "" => succeeded_count += 1,
                deviations => failed_scenarios.push(format!("{scenario}: {deviations}")),
            }
        }
        if succeeded_count < least {
            failed_scenarios.push(format!(
                "only {succeeded_count} scenarios succeeded: {}{}",
                ended.stdout, ended.stderr
            ));
        }
        failed_scenarios.join("\n")
    }

    fn command(&self) -> Command {
        self.tools.script(&self.home, "conformance/dist/index.js")
    }
}

/// The checks of each scenario.
fn all_checks(folder: &Path) -> Vec<(String, Vec<Check>)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            Some((name, read_checks(&entry.path())?))
        })
        .collect()
}

/// The checks of the single scenario in this folder.
fn checks(folder: &Path) -> Option<Vec<Check>> {
    read_checks(&fs::read_dir(folder).ok()?.next()?.ok()?.path())
}

fn read_checks(folder: &Path) -> Option<Vec<Check>> {
    let text = fs::read_to_string(folder.join("checks.json")).ok()?;
    let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = checks.iter().map(|check| Check {
        id: text(&check["id"]),
        status: text(&check["status"]),
        message: text(&check["errorMessage"]),
    });
    Some(checks.collect())
}

/// The checks that did not succeed, as text; empty if there are none.
fn deviations(checks: &[Check]) -> String {
    let has_failed = |check: &&Check| matches!(check.status.as_str(), "FAILURE" | "WARNING");
    let failed = checks.iter().filter(has_failed);
    let mut deviations: Vec<_> = failed
        .map(|check| format!("{} {}: {}", check.status, check.id, check.message))
        .collect();
    let succeeded = |check: &Check| check.status == "SUCCESS" && check.id != ALWAYS;
    if !checks.iter().any(succeeded) {
        deviations.push("no check succeeded".to_owned());
    }
    deviations.join("; ")
}
