//! Coverage-guided fuzzing with libFuzzer on stable Rust: builds the targets and runs each.
//!
//! The crate `fuzz` is outside of the workspace because all of its code is instrumented. New inputs
//! go to the target folder; `fuzz/corpus/<target>` contains only the seeds.
//! Must not know: what a target tests.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::run::{cargo, output, run as run_command};
use crate::system::{CPP, provide};
use crate::workspace::Workspace;

/// The flags that nightly's `-Zsanitizer` would set, as far as stable has them.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing";

/// Fuzzes all targets, or only one, for this many seconds each.
pub(crate) fn run(workspace: &Workspace, only: Option<&str>, seconds: u32) -> Result<()> {
    let manifest = workspace.root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("could not read {}", manifest.display()))?;
    let targets = select(targets(&text), only)?;
    if targets.is_empty() {
        eprintln!("fuzz: fuzz/Cargo.toml lists no target");
        return Ok(());
    }
    let fuzzer = Fuzzer {
        workspace,
        triple: host()?,
        seconds,
    };
    fuzzer.build()?;
    for target in targets {
        fuzzer.fuzz(target)?;
    }
    Ok(())
}

/// The names of the binaries in a manifest: each is a target.
fn targets(manifest: &str) -> Vec<&str> {
    let mut section = "";
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[[bin]]"
            && let Some(value) = line.strip_prefix("name = ")
        {
            names.push(value.trim_matches('"'));
        }
    }
    names
}

fn select<'a>(targets: Vec<&'a str>, only: Option<&str>) -> Result<Vec<&'a str>> {
    let Some(only) = only else { return Ok(targets) };
    let found = targets.iter().copied().find(|target| *target == only);
    match found {
        Some(target) => Ok(vec![target]),
        None => bail!(
            "unknown fuzz target `{only}`; available: {}",
            targets.join(", ")
        ),
    }
}

fn host() -> Result<String> {
    let about = output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("`rustc -vV` does not print the host")?
        .to_owned())
}

struct Fuzzer<'a> {
    workspace: &'a Workspace,
    triple: String,
    seconds: u32,
}

impl Fuzzer<'_> {
    fn build(&self) -> Result<()> {
        provide(&CPP)?;
        // With an explicit target, build scripts and macros are built without the flags.
        run_command(
            cargo()
                .args([
                    "build",
                    "--release",
                    "--locked",
                    "--bins",
                    "--target",
                    &self.triple,
                ])
                .arg("--target-dir")
                .arg(self.dir())
                .env("RUSTFLAGS", RUSTFLAGS)
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .current_dir(self.workspace.root.join("fuzz")),
        )
    }

    fn fuzz(&self, target: &str) -> Result<()> {
        eprintln!("fuzz: {target} for {} s", self.seconds);
        let scratch = create_dir(self.dir().join("corpus").join(target))?;
        let artifacts = create_dir(self.dir().join("artifacts").join(target))?;
        let seeds = self.workspace.root.join("fuzz/corpus").join(target);
        let program = self.dir().join(&self.triple).join("release").join(target);
        let output = Command::new(&program)
            .arg(format!("-max_total_time={}", self.seconds))
            // The limit is wall-clock time: a short one would fail on a busy machine.
            .args(["-rss_limit_mb=512", "-timeout=10", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(&scratch)
            .args(seeds.is_dir().then_some(seeds))
            .output()
            .with_context(|| format!("could not start {}", program.display()))?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            // Thousands of lines with a `#` show the progress of the search.
            log.lines()
                .filter(|line| !line.starts_with('#'))
                .for_each(|line| eprintln!("{line}"));
        }
        ensure!(
            output.status.success(),
            "fuzz target {target} failed; the input is in {}; to reproduce, pass it to {}",
            artifacts.display(),
            program.display()
        );
        eprintln!(
            "fuzz: {target} passed {} inputs",
            executed(&log).unwrap_or("all")
        );
        Ok(())
    }

    fn dir(&self) -> PathBuf {
        self.workspace.target.join("fuzz")
    }
}

fn create_dir(dir: PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(&dir).with_context(|| format!("could not create {}", dir.display()))?;
    Ok(dir)
}

fn executed(log: &str) -> Option<&str> {
    log.lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"fuzz\"\n\n[[bin]]\nname = \"sse\"\n\
                            path = \"targets/sse.rs\"\n\n[[bin]]\nname = \"lines\"\n";

    #[test]
    fn every_binary_is_a_target() {
        assert_eq!(targets(MANIFEST), ["sse", "lines"]);
    }

    #[test]
    fn selects_a_target_by_name() {
        assert_eq!(select(targets(MANIFEST), Some("lines")).unwrap(), ["lines"]);
        let error = select(targets(MANIFEST), Some("line")).unwrap_err();
        assert!(error.to_string().contains("sse, lines"));
    }

    #[test]
    fn reads_the_number_of_inputs_from_the_log() {
        assert_eq!(
            executed("x\nstat::number_of_executed_units: 812\n"),
            Some("812")
        );
    }
}
