//! The configuration: one file, a few flags and variables, and the settings they result in.
//!
//! Loading has three stages: the tree of the file with positions, typed sections as written, and
//! checked settings. All problems are collected with their line. Must not know the gateway that is
//! built from the settings.

mod auth;
mod composed;
mod context;
mod data_dir;
mod diagnostics;
mod document;
mod endpoint;
mod file;
mod http;
mod index_overrides;
mod kinds;
mod limits;
mod listen;
mod log;
mod mapping;
mod mcp_servers;
mod overrides;
mod position;
mod proxies;
mod read;
mod read_error;
mod schema;
mod seal_keys;
mod server_ids;
mod settings;
mod sources;
mod suggest;
mod syntax_error;
mod tree;
mod validate;
mod web;

#[cfg(test)]
mod tests;

pub use auth::Key;
pub use diagnostics::{Origin, Problem, Problems};
pub use kinds::{RemoteSource, SourceSettings};
pub use log::{LogFormat, LogLevel};
pub use overrides::Flags;
pub(crate) use overrides::{ALL as OVERRIDES, LOG_LEVEL, Override, Target};
pub use position::Position;
pub(crate) use schema::{default_of, display_default, schema};
pub use settings::{Log, Settings};
pub use sources::ConfiguredSource;
pub(crate) use suggest::nearest;
pub use tidegate_config::{Environment, Secret};
pub use web::PublicUrl;

use std::path::{Path, PathBuf};

use context::LoadContext;
use diagnostics::Diagnostics;
use document::Document;
use file::ConfigFile;
use tree::{DuplicateKey, Node, Value};

/// Loads the configuration. Reads the file, and the secrets and certificates it refers to; creates
/// nothing.
pub fn load(flags: &Flags, environment: &Environment<'_>) -> Result<Settings, Problems> {
    load_file(file::find(flags, environment)?, flags, environment)
}

/// Loads the configuration without a file, for commands that do not concern the local gateway.
pub(crate) fn without_file(
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Settings, Problems> {
    load_file(None, flags, environment)
}

/// The name of the configuration file, if there is one. The file may be invalid.
pub(crate) fn file_name(flags: &Flags, environment: &Environment<'_>) -> Option<PathBuf> {
    let file = file::find(flags, environment).ok()??;
    Some(environment.folder().join(file.name))
}

fn load_file(
    file: Option<ConfigFile>,
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Settings, Problems> {
    let (mut tree, file) = match file {
        Some(ConfigFile { name, text }) => (parse(&name, &text)?, Some(name)),
        None => (Node::new(Position::START, Value::Null), None),
    };
    if tree.value == Value::Null {
        tree.value = Value::Map(Vec::new());
    }
    let name = file.clone().unwrap_or_default();
    let folder = environment.folder().join(name.parent().unwrap_or(&name));
    let duplicates = tree.remove_duplicates();
    let mut diagnostics = Diagnostics::new(name, tree.clone());
    for DuplicateKey {
        key,
        position,
        first,
    } in duplicates
    {
        let message = format!("`{key}` is already set in line {}; remove one", first.line);
        diagnostics.at(position, message);
    }
    let document: Document = read::read(tree, "", &mut diagnostics).unwrap_or_default();
    let context = LoadContext {
        flags,
        environment,
        file,
        folder: &folder,
    };
    let settings = validate::validate(document, &context, &mut diagnostics);
    diagnostics.finish(settings)
}

fn parse(name: &Path, text: &str) -> Result<Node, Problem> {
    tree::parse(text).map_err(|error| Problem {
        origin: Origin::File {
            path: name.to_owned(),
            position: error.position,
        },
        message: error.message,
    })
}
