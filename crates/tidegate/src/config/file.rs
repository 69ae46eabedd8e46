//! Which file is the configuration, and its text.
//!
//! Knows nothing of what is in it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::overrides::{CONFIG, Flags};
use super::problem::{Origin, Problem};

/// Looked for when no file is named. Only one of them may be there.
const NAMES: &[&str] = &["tidegate.yaml", "tidegate.yml", "tidegate.json"];
/// No configuration is larger; a file that is was named by mistake.
const MOST_BYTES: u64 = 1024 * 1024;

/// A configuration file.
#[derive(Debug)]
pub(crate) struct Found {
    /// The name as the user gave it.
    pub(crate) name: PathBuf,
    pub(crate) text: String,
}

/// The file that the flag or the variable names, or the one in the folder. `None` if there is
/// none, which is fine.
pub(crate) fn find(flags: &Flags, environment: &Environment<'_>) -> Result<Option<Found>, Problem> {
    if let Some(name) = &flags.config {
        return named(name, Origin::Flag(CONFIG.flag), environment).map(Some);
    }
    if let Some(name) = environment.variable(CONFIG.variable) {
        return named(
            Path::new(&name),
            Origin::Variable(CONFIG.variable),
            environment,
        )
        .map(Some);
    }
    in_folder(environment)
}

/// A file that was asked for must be there.
fn named(name: &Path, origin: Origin, environment: &Environment<'_>) -> Result<Found, Problem> {
    match read(name, environment) {
        Ok(text) => Ok(Found {
            name: name.to_owned(),
            text,
        }),
        Err(error) => {
            let message = format!("cannot read the file `{}`: {error}", name.display());
            Err(Problem { origin, message })
        }
    }
}

fn in_folder(environment: &Environment<'_>) -> Result<Option<Found>, Problem> {
    let mut found: Option<Found> = None;
    for name in NAMES.iter().map(PathBuf::from) {
        let problem = |message| Problem {
            origin: Origin::File {
                path: name.clone(),
                place: None,
            },
            message,
        };
        match (read(&name, environment), &found) {
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound => {}
            (Err(error), _) => return Err(problem(format!("cannot read the file: {error}"))),
            (Ok(text), None) => found = Some(Found { name, text }),
            (Ok(_), Some(first)) => {
                let first = first.name.display();
                return Err(problem(format!(
                    "`{first}` is here too; remove one of them, or name one with --config"
                )));
            }
        }
    }
    Ok(found)
}

fn read(name: &Path, environment: &Environment<'_>) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(environment.folder().join(name))?;
    let bytes = file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match bytes as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!(
            "it is larger than {MOST_BYTES} bytes"
        ))),
        false => Ok(text),
    }
}
