//! Which folder data is stored in. Creates nothing.

use std::path::PathBuf;

use tidegate_config::Environment;

use super::context::LoadContext;
use super::diagnostics::{Diagnostics, Origin};
use super::overrides::DATA_DIR;

/// The folder of the flag, the variable, the file, or the user's data directory, in this order.
pub(crate) fn choose(
    written: Option<&str>,
    context: &LoadContext<'_>,
    diagnostics: &mut Diagnostics,
) -> PathBuf {
    let environment = context.environment;
    let variable = || environment.variable(DATA_DIR.variable).map(PathBuf::from);
    if let Some(path) = context.flags.data_dir.clone().or_else(variable) {
        return environment.folder().join(path);
    }
    let chosen = match written {
        Some("") => {
            diagnostics.value(
                &["data_dir"],
                "`data_dir` is empty; name a folder or remove the field",
            );
            return PathBuf::new();
        }
        // No shell expands the `~` of a file.
        Some(path) => match path.strip_prefix("~/") {
            Some(below) => environment.home().map(|home| home.join(below)),
            None => Some(context.folder.join(path)),
        },
        None => user_data_dir(environment),
    };
    chosen.unwrap_or_else(|| {
        diagnostics.push(
            Origin::Variable("HOME"),
            "not set, so there is no folder for data; name one with --data-dir",
        );
        PathBuf::new()
    })
}

/// By the XDG base directory specification, which says to ignore a relative `XDG_DATA_HOME`.
fn user_data_dir(environment: &Environment<'_>) -> Option<PathBuf> {
    let xdg = environment
        .variable("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let share = xdg.or_else(|| Some(environment.home()?.join(".local/share")))?;
    Some(share.join("tidegate"))
}
