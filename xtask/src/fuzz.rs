//! Coverage-guided fuzzing with libFuzzer on stable Rust: builds the targets and runs each.
//!
//! The crate `fuzz` is outside of the workspace, for everything in it is instrumented. New
//! inputs go to the target folder; `fuzz/corpus/<target>` holds only the seeds.
//! Must not know: what a target feeds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::place::Place;
use crate::run::{cargo, output, run as run_command};
use crate::system::{CPP, provide};

/// What nightly's `-Zsanitizer` tooling would set, in flags that stable has.
const RUSTFLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 -Cdebug-assertions --cfg fuzzing";

/// Fuzzes each target, or the one that is named, for so many seconds.
pub(crate) fn run(place: &Place, only: Option<&str>, seconds: u32) -> Result<()> {
    let manifest = place.root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("could not read {}", manifest.display()))?;
    let targets = chosen(targets(&text), only)?;
    if targets.is_empty() {
        eprintln!("fuzz: fuzz/Cargo.toml lists no target");
        return Ok(());
    }
    let fuzzer = Fuzzer {
        place,
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

fn chosen<'a>(targets: Vec<&'a str>, only: Option<&str>) -> Result<Vec<&'a str>> {
    let Some(only) = only else { return Ok(targets) };
    let found = targets.iter().copied().find(|target| *target == only);
    match found {
        Some(target) => Ok(vec![target]),
        None => bail!(
            "there is no fuzz target `{only}`; there are: {}",
            targets.join(", ")
        ),
    }
}

fn host() -> Result<String> {
    let about = output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("`rustc -vV` does not say the host")?
        .to_owned())
}

struct Fuzzer<'a> {
    place: &'a Place,
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
                .current_dir(self.place.root.join("fuzz")),
        )
    }

    fn fuzz(&self, target: &str) -> Result<()> {
        eprintln!("fuzz: {target} for {} s", self.seconds);
        let scratch = made(self.dir().join("corpus").join(target))?;
        let artifacts = made(self.dir().join("artifacts").join(target))?;
        let seeds = self.place.root.join("fuzz/corpus").join(target);
        let program = self.dir().join(&self.triple).join("release").join(target);
        let output = Command::new(&program)
            .arg(format!("-max_total_time={}", self.seconds))
            // Wall-clock time: on a busy machine a short one would tell of the machine.
            .args(["-rss_limit_mb=512", "-timeout=10", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(&scratch)
            .args(seeds.is_dir().then_some(seeds))
            .output()
            .with_context(|| format!("could not start {}", program.display()))?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            // Lines with a `#` tell how the search went on, thousands of them.
            log.lines()
                .filter(|line| !line.starts_with('#'))
                .for_each(|line| eprintln!("{line}"));
        }
        ensure!(
            output.status.success(),
            "fuzz target {target} failed; the input is in {}; to try it again, give it to {}",
            artifacts.display(),
            program.display()
        );
        eprintln!(
            "fuzz: {target} held for {} inputs",
            executed(&log).unwrap_or("its")
        );
        Ok(())
    }

    fn dir(&self) -> PathBuf {
        self.place.target.join("fuzz")
    }
}

fn made(dir: PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(&dir).with_context(|| format!("could not make {}", dir.display()))?;
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
    fn each_binary_is_a_target() {
        assert_eq!(targets(MANIFEST), ["sse", "lines"]);
    }

    #[test]
    fn a_target_is_chosen_by_name() {
        assert_eq!(chosen(targets(MANIFEST), Some("lines")).unwrap(), ["lines"]);
        let wrong = chosen(targets(MANIFEST), Some("line")).unwrap_err();
        assert!(wrong.to_string().contains("sse, lines"));
    }

    #[test]
    fn the_number_of_inputs_is_read_from_the_log() {
        assert_eq!(
            executed("x\nstat::number_of_executed_units: 812\n"),
            Some("812")
        );
    }
}
