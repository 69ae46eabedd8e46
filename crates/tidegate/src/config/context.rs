//! The inputs of loading a configuration other than the text of the file.

use std::path::{Path, PathBuf};

use tidegate_config::Environment;

use super::overrides::Flags;

/// Flags, variables and the location of the file.
pub(crate) struct LoadContext<'a> {
    pub(crate) flags: &'a Flags,
    pub(crate) environment: &'a Environment<'a>,
    /// The file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// The folder of the file, where relative paths in it start.
    pub(crate) folder: &'a Path,
}
