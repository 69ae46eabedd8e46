//! The configuration: one file, a few flags and variables, and what they come to.
//!
//! Three stages: raw types (what is written), a pure validate that notes every problem with its
//! line, and [`Settings`] (what holds). Knows nothing of the gateway that is then built.

mod auth;
mod ca;
mod capability_index;
mod data_dir;
mod endpoint;
mod entries;
mod environment;
mod file;
mod folders;
mod limits;
mod listen;
mod log;
mod mcp_servers;
mod memory;
mod overrides;
mod policy;
mod problem;
mod proxies;
mod raw;
mod read;
mod read_error;
mod remote;
mod schema;
mod seal_keys;
mod secret;
mod setting;
mod settings;
mod sources;
mod suggest;
mod tree;
mod units;
mod validate;
mod web;

#[cfg(test)]
mod tests;

pub use auth::Key;
pub use ca::CaFile;
pub use capability_index::IndexSettings;
pub use environment::Environment;
pub use log::{LogFormat, LogLevel};
pub use overrides::Flags;
pub(crate) use overrides::{ALL as OVERRIDES, LOG_LEVEL, Override, Sets};
pub use policy::{Era, RemotePolicy, Sharing};
pub use problem::{Origin, Place, Problem, Problems};
pub use remote::{Remote, Server};
pub(crate) use schema::{default_of, schema};
pub use secret::Secret;
pub use setting::Setting;
pub use settings::{Log, Settings};
pub use sources::{Source, SourceKind};
pub(crate) use suggest::nearest;
pub use web::PublicUrl;

use std::path::Path;

use file::Found;
use problem::Diagnostics;
use tree::{Node, Value};
use validate::Around;

/// Reads, judges and completes the configuration. Creates and opens nothing but what it reads.
pub fn load(flags: &Flags, environment: &Environment<'_>) -> Result<Settings, Problems> {
    complete(file::find(flags, environment)?, flags, environment)
}

/// The same without a file, for what does not concern the gateway that one may describe.
pub(crate) fn without_file(
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Settings, Problems> {
    complete(None, flags, environment)
}

fn complete(
    found: Option<Found>,
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Settings, Problems> {
    let (mut tree, file) = match found {
        Some(Found { name, text }) => (parse(&name, &text)?, Some(name)),
        None => (
            Node {
                at: Place::START,
                value: Value::Nothing,
            },
            None,
        ),
    };
    if tree.value == Value::Nothing {
        tree.value = Value::Map(Vec::new());
    }
    let name = file.clone().unwrap_or_default();
    let folder = environment.folder().join(name.parent().unwrap_or(&name));
    let mut diagnostics = Diagnostics::new(name, tree.clone());

    read::refuse_duplicates(&mut tree, &mut diagnostics);
    let raw: raw::Raw = read::read(tree, "", &mut diagnostics).unwrap_or_default();
    let around = Around {
        flags,
        environment,
        file,
        folder: &folder,
    };
    let seal_keys = raw.seal_keys.clone().unwrap_or_default();
    let (mut settings, keys) = validate::validate(raw, &around, &mut diagnostics);
    settings.seal_keys = seal_keys::fetch(&seal_keys, &folder, environment, &mut diagnostics);
    settings.keys = auth::fetch(keys, &folder, environment, &mut diagnostics);
    sources::fetch(
        &mut settings.sources,
        &folder,
        environment,
        &mut diagnostics,
    );
    settings.proxies = proxies::read(&settings.sources, environment, &mut diagnostics);
    diagnostics.settle(settings)
}

fn parse(name: &Path, text: &str) -> Result<Node, Problem> {
    tree::parse(text).map_err(|error| Problem {
        origin: Origin::File {
            path: name.to_owned(),
            place: error.at,
        },
        message: error.message,
    })
}
