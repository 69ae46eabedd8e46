//! The folder for data: which one it is. Creates nothing.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::overrides;
use super::problem::{Diagnostics, Origin};
use super::validate::Around;

/// The folder of the flag, the variable, the file, or the user's own, in this order.
pub(crate) fn choose(
    file: Option<&str>,
    around: &Around<'_>,
    diagnostics: &mut Diagnostics,
) -> PathBuf {
    let environment = around.environment;
    if let Some(path) = &around.flags.data_dir {
        return environment.folder().join(path);
    }
    if let Some(path) = environment.variable(overrides::DATA_DIR.variable) {
        return environment.folder().join(path);
    }
    let chosen = match file {
        Some("") => {
            diagnostics.value(
                &["data_dir"],
                "`data_dir` is empty; name a folder or remove the field",
            );
            return PathBuf::new();
        }
        Some(path) => written(path, around.folder, environment),
        None => users_own(environment),
    };
    chosen.unwrap_or_else(|| {
        diagnostics.push(
            Origin::Variable("HOME"),
            "not set, so there is no folder for data; name one with --data-dir",
        );
        PathBuf::new()
    })
}

/// A path of the file. The shell is not there to expand a `~`.
fn written(path: &str, folder: &Path, environment: &Environment<'_>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(home(environment)?.join(rest)),
        None => Some(folder.join(path)),
    }
}

/// A relative `XDG_DATA_HOME` is to be ignored: the XDG base directory specification says so.
fn users_own(environment: &Environment<'_>) -> Option<PathBuf> {
    let xdg = environment
        .variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let share = xdg.or_else(|| Some(home(environment)?.join(".local/share")))?;
    Some(share.join("tidegate"))
}

fn home(environment: &Environment<'_>) -> Option<PathBuf> {
    environment.variable("HOME").map(PathBuf::from)
}
