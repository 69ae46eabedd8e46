//! Python environments: one for each major version of the Python SDK, which cannot be installed
//! together, and one for the servers, so that their pins do not affect the SDKs.
//!
//! Must not know: npm, and what the SDKs are used for.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::stamp::unless_stamped;
use crate::run::{output, run};
use crate::system::{PYTHON, provide};
use crate::workspace::Workspace;

/// Creates the environment `name` with exactly what `xtask/tools/<name>.txt` pins.
pub(crate) fn environment(workspace: &Workspace, name: &str) -> Result<()> {
    provide(&PYTHON)?;
    let pins = workspace.pins().join(format!("{name}.txt"));
    let requirements =
        fs::read_to_string(&pins).with_context(|| format!("could not read {}", pins.display()))?;
    // An environment works only with the interpreter that created it.
    let interpreter =
        output(Command::new("python3").args(["-c", "import sys; print(sys.version)"]))?;
    let dir = workspace.tools().join(name);
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
