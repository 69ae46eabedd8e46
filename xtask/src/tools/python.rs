//! Python environments: one per generation of the Python SDK, for they cannot live in one, and one
//! for the servers, so that no pin of theirs moves an SDK.
//!
//! Must not know: npm, and what the SDKs are used for.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::stamp::unless_stamped;
use crate::place::Place;
use crate::run::{output, run};
use crate::system::{PYTHON, provide};

/// Makes the environment `name` with exactly what `xtask/tools/<name>.txt` pins.
pub(crate) fn environment(place: &Place, name: &str) -> Result<()> {
    provide(&PYTHON)?;
    let pins = place.pins().join(format!("{name}.txt"));
    let requirements =
        fs::read_to_string(&pins).with_context(|| format!("could not read {}", pins.display()))?;
    // An environment belongs to the interpreter that made it.
    let interpreter =
        output(Command::new("python3").args(["-c", "import sys; print(sys.version)"]))?;
    let dir = place.tools().join(name);
    unless_stamped(
        name,
        &dir,
        &format!("{interpreter}\n{requirements}"),
        || {
            run(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
            run(Command::new(dir.join("bin/python"))
                .args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--requirement",
                ])
                .arg(&pins))
        },
    )
}
