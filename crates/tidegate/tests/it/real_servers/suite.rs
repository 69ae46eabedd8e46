//! The servers of `tests/servers.txt`, each behind a gateway of its own: their responses through it
//! equal their direct responses, for clients of both eras, at `/mcp/{source}` and at `/mcp`, and for
//! two clients at the same time.

mod declared;
mod deployment;
mod outcome;
mod steps;
mod table;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use declared::Declared;
use deployment::compare_all;
use outcome::Outcome;
use table::{Row, rows};

/// Sets that `cargo xtask tools` installs; the others are installed by `cargo xtask parity`.
const INSTALLED_FOR_ALL_TESTS: [&str; 2] = ["node", "python-servers"];

/// Selects servers: names separated by spaces, or `all`. Without it, those that are installed for all
/// tests. `cargo xtask parity` sets it, after installing the others.
const SELECTION: &str = "TIDEGATE_PARITY";

#[test]
fn responses_equal_direct_ones() {
    let mut rows = rows();
    match std::env::var(SELECTION).as_deref() {
        Ok("all") => return check(&rows, Lines::All),
        Ok(names) => {
            let names: BTreeSet<_> = names.split_whitespace().collect();
            rows.retain(|row| names.contains(row.name));
            assert_eq!(rows.len(), names.len(), "unknown server in {names:?}");
        }
        Err(_) => rows.retain(|row| INSTALLED_FOR_ALL_TESTS.contains(&row.set)),
    }
    assert!(!rows.is_empty());
    check(&rows, Lines::Named);
}

/// The lines of `parity.txt` that must occur in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Those that name a server of the run.
    Named,
    All,
}

/// Runs one server after another; fails after the last.
fn check(rows: &[Row], lines: Lines) {
    let mut declared = Declared::default();
    let mut problems = Vec::new();
    print(&Outcome::heading());
    for row in rows {
        // A server that cannot be run must not hide the results of the others.
        let run = AssertUnwindSafe(|| compare_all(row, &mut declared));
        match catch_unwind(run) {
            Ok(outcome) => {
                print(&outcome.line());
                problems.extend(outcome.problems);
            }
            Err(_) => {
                print(&Outcome::failed_line(row));
                problems.push(format!("{}: the run failed, see above", row.name));
            }
        }
    }
    let mut unused = declared.unused(lines == Lines::All);
    // A failed run says nothing about the lines.
    unused.retain(|_| !problems.iter().any(|one| one.ends_with("see above")));
    problems.extend(
        unused
            .iter()
            .map(|line| format!("no longer occurs: {line}")),
    );
    assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
}

/// Prints a line of the report of selected servers, also while the output of tests is captured: the
/// run is long.
fn print(line: &str) {
    if std::env::var_os(SELECTION).is_some() {
        writeln!(io::stderr().lock(), "{line}").ok();
    }
}
