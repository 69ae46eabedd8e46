//! Which file is the configuration, and its text.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_config::{Environment, read_limited};

use super::diagnostics::{Origin, Problem};
use super::overrides::{CONFIG, Flags};

/// Looked for in the working directory if no file is named. Only one of them may exist.
const NAMES: &[&str] = &["tidegate.yaml", "tidegate.yml", "tidegate.json"];
/// The largest configuration; a larger file was named by mistake.
const MAX_BYTES: u64 = 1024 * 1024;

/// A configuration file.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// The name as the user wrote it.
    pub(crate) name: PathBuf,
    pub(crate) text: String,
}

/// The file that the flag or the variable names, or the one in the working directory. `None` if
/// there is no file, which is optional.
pub(crate) fn find(
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Option<ConfigFile>, Problem> {
    if let Some(name) = &flags.config {
        return open_named(name, Origin::Flag(CONFIG.flag), environment).map(Some);
    }
    if let Some(name) = environment.variable(CONFIG.variable) {
        let origin = Origin::Variable(CONFIG.variable);
        return open_named(Path::new(&name), origin, environment).map(Some);
    }
    find_in_folder(environment)
}

/// A file that the user names has to exist.
fn open_named(
    name: &Path,
    origin: Origin,
    environment: &Environment<'_>,
) -> Result<ConfigFile, Problem> {
    match read(name, environment) {
        Ok(text) => Ok(ConfigFile {
            name: name.to_owned(),
            text,
        }),
        Err(error) => {
            let message = format!("cannot read the file `{}`: {error}", name.display());
            Err(Problem { origin, message })
        }
    }
}

fn find_in_folder(environment: &Environment<'_>) -> Result<Option<ConfigFile>, Problem> {
    let mut found: Option<ConfigFile> = None;
    for name in NAMES.iter().map(PathBuf::from) {
        let problem = |message| Problem {
            origin: Origin::File {
                path: name.clone(),
                position: None,
            },
            message,
        };
        match (read(&name, environment), &found) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {}
            (Err(error), _) => return Err(problem(format!("cannot read the file: {error}"))),
            (Ok(text), None) => found = Some(ConfigFile { name, text }),
            (Ok(_), Some(first)) => {
                let first = first.name.display();
                return Err(problem(format!(
                    "`{first}` exists too; remove one of them, or choose one with --config"
                )));
            }
        }
    }
    Ok(found)
}

fn read(name: &Path, environment: &Environment<'_>) -> io::Result<String> {
    let bytes = read_limited(&environment.folder().join(name), MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not valid UTF-8"))
}
