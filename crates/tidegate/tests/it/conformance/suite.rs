//! Runs the suite and reads what it found. Its exit code is not enough: several scenarios end well
//! without having reached a server at all.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::list::{But, Expectation, Row};
use crate::support::tools::Tools;
use crate::support::{Home, Running};

/// Succeeds even where nothing was answered.
const ALWAYS: &str = "wire-schema-valid";

/// How long a client may take, in milliseconds.
const CLIENT_TIME: &str = "120000";

/// What the suite looks at.
pub(super) enum Subject {
    Server {
        url: String,
    },
    /// What is started with the address of a server.
    Client {
        command: String,
    },
}

pub(super) struct Suite {
    home: Home,
    tools: Tools,
}

/// What one check found.
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

    /// Every scenario for servers, or for clients, with each of its revisions.
    pub(super) fn known(&self, subjects: &str) -> Vec<(String, String)> {
        let ended = Running::start(self.command().args(["list", subjects])).end();
        let said = ended.expect_code(0).stdout;
        let lines = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- "));
        let scenarios = lines.filter_map(|line| line.strip_suffix(']')?.split_once(" ["));
        let known = scenarios.flat_map(|(name, revisions)| {
            let each = revisions.split(',').map(str::trim);
            each.map(|revision| (name.to_owned(), revision.to_owned()))
        });
        known.collect()
    }

    /// Runs a scenario once; what is wrong, if anything.
    pub(super) fn judge(&self, subject: &Subject, row: &Row, revision: &str) -> Result<(), String> {
        let folder = TempDir::new_in(self.home.path()).unwrap();
        let mut command = self.command();
        match subject {
            Subject::Server { url } => command.args(["server", "--url", url]),
            Subject::Client { command: client } => {
                command.args(["client", "--command", client, "--timeout", CLIENT_TIME])
            }
        };
        command.args(["--scenario", row.scenario, "--spec-version", revision]);
        command.arg("-o").arg(folder.path());
        let ended = Running::start(&mut command).end();
        let but = match &row.expectation {
            Expectation::Partly { but } => but.as_slice(),
            Expectation::Pass | Expectation::NotRun { .. } => &[],
        };
        let mut wrong = match checks(folder.path()) {
            Some(checks) => wrong(&checks, but),
            None => "it wrote no checks".to_owned(),
        };
        // A client may fail after its last check.
        if matches!(subject, Subject::Client { .. }) && ended.code() != Some(0) {
            wrong.push_str("the client failed");
        }
        if !wrong.is_empty() {
            wrong = format!("{wrong}\n{}{}", ended.stdout, ended.stderr);
        }
        match wrong.as_str() {
            "" => Ok(()),
            wrong => Err(format!("{} {revision}: {wrong}", row.scenario)),
        }
    }

    /// Runs the whole set of a revision `but` for those that begin like this; what is wrong, if
    /// anything, or that fewer scenarios than `least` went well.
    pub(super) fn judge_all(
        &self,
        url: &str,
        revision: &str,
        least: usize,
        but: &[&str],
    ) -> String {
        let folder = TempDir::new_in(self.home.path()).unwrap();
        let mut command = self.command();
        command.args(["server", "--url", url, "--requirements", revision]);
        command.arg("-o").arg(folder.path());
        let ended = Running::start(&mut command).end();
        let (mut wrongs, mut well) = (Vec::new(), 0);
        let all = all_checks(folder.path()).into_iter();
        let concerned = |name: &str| !but.iter().any(|one| name.starts_with(one));
        for (scenario, checks) in all.filter(|(name, _)| concerned(name)) {
            match wrong(&checks, &[]).as_str() {
                "" => well += 1,
                wrong => wrongs.push(format!("{scenario}: {wrong}")),
            }
        }
        if well < least {
            wrongs.push(format!(
                "only {well} went well: {}{}",
                ended.stdout, ended.stderr
            ));
        }
        wrongs.join("\n")
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

/// The checks of the one scenario that wrote into this folder.
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

/// What is not as it must be, in words.
fn wrong(checks: &[Check], but: &[But]) -> String {
    let mut wrong = Vec::new();
    let excused = |check: &Check| {
        but.iter()
            .any(|one| one.check == check.id && one.status == check.status)
    };
    for check in checks {
        let bad = matches!(check.status.as_str(), "FAILURE" | "WARNING");
        if bad && !excused(check) {
            wrong.push(format!("{} {}: {}", check.status, check.id, check.message));
        }
    }
    let succeeded = |check: &Check| check.status == "SUCCESS" && check.id != ALWAYS;
    if !checks.iter().any(succeeded) {
        wrong.push("no check succeeded".to_owned());
    }
    for one in but {
        let there = |check: &Check| check.id == one.check && check.status == one.status;
        if !checks.iter().any(there) {
            wrong.push(format!(
                "{} is no {} any more; mend the list",
                one.check, one.status
            ));
        }
    }
    wrong.join("; ")
}
