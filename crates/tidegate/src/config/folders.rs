//! Sources that are folders of this machine: how they are written.
//!
//! Opens none of them.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_sources::Patterns;
use tidegate_sources::files::FilesConfig;
use tidegate_sources::prompts::PromptsConfig;

use super::environment::Environment;
use super::problem::Diagnostics;
use super::read::read;
use super::tree::Node;
use super::units::Size;

const MAX_FILE_BYTES: Size = Size::mib(4);
const MAX_FILES: usize = 10_000;

/// A folder of files as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawFiles {
    /// Of kind `files`: the folder whose files are served. A relative path starts at the folder of
    /// this file.
    root: PathBuf,
    /// Of kind `files`: only files that match one of these patterns, written as in `.gitignore`.
    #[schemars(extend("default" = []))]
    include: Option<Vec<String>>,
    /// Of kind `files`: files and folders that are left out, written as in `.gitignore`.
    #[schemars(extend("default" = []))]
    exclude: Option<Vec<String>>,
    /// Of kind `files`: whether names that begin with a dot are served. `.git` never is.
    #[schemars(extend("default" = false))]
    include_hidden: Option<bool>,
    /// Of kind `files`: whether what `.gitignore` files name is left out.
    #[schemars(extend("default" = true))]
    gitignore: Option<bool>,
    /// Of kind `files`: bytes of one file. A larger one is neither listed nor read.
    #[schemars(extend("default" = MAX_FILE_BYTES))]
    max_file_bytes: Option<Size>,
    /// Of kind `files`: files that are listed. Others can be read by their URI.
    #[schemars(extend("default" = MAX_FILES))]
    max_files: Option<usize>,
}

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_files(
    node: Node,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<FilesConfig> {
    let raw: RawFiles = read(node, name, diagnostics)?;
    let id = name.strip_prefix("sources.").unwrap_or(name);
    let path = |field| ["sources", id, field];
    if raw.root.as_os_str().is_empty() {
        diagnostics.value(
            &path("root"),
            format!("`{name}.root` is empty; name a folder"),
        );
    }
    let mut patterns = |field, written: Option<Vec<String>>| {
        let written = written.unwrap_or_default();
        Patterns::parse(&written).unwrap_or_else(|bad| {
            let message = format!(
                "`{name}.{field}`: `{}` is no pattern: {}",
                bad.pattern, bad.why
            );
            diagnostics.value(&["sources", id, field, &bad.pattern], message);
            Patterns::default()
        })
    };
    let (include, exclude) = (
        patterns("include", raw.include),
        patterns("exclude", raw.exclude),
    );
    let bytes = raw.max_file_bytes.unwrap_or(MAX_FILE_BYTES);
    if !(Size(1)..=Size::mib(256)).contains(&bytes) {
        let message = format!("`{name}.max_file_bytes` is {bytes}; it must be from 1 to 256MiB");
        diagnostics.value(&path("max_file_bytes"), message);
    }
    let files = raw.max_files.unwrap_or(MAX_FILES);
    if !(1..=1_000_000).contains(&files) {
        let message = format!("`{name}.max_files` is {files}; it must be from 1 to 1000000");
        diagnostics.value(&path("max_files"), message);
    }
    Some(FilesConfig {
        root: raw.root,
        include_hidden: raw.include_hidden.unwrap_or(false),
        gitignore: raw.gitignore.unwrap_or(true),
        include,
        exclude,
        max_file_bytes: bytes.0 as u64,
        max_files: files,
    })
}

/// A folder of prompts as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a mapping of fields")]
pub(crate) struct RawPrompts {
    /// Of kind `prompts`: the folder whose Markdown files are prompts and whose folders with a
    /// `SKILL.md` are skills. A relative path starts at the folder of this file.
    folder: PathBuf,
}

/// Reads an entry of `sources`, whose name in messages is `name`.
pub(crate) fn read_prompts(
    node: Node,
    name: &str,
    diagnostics: &mut Diagnostics,
) -> Option<PromptsConfig> {
    let RawPrompts { folder } = read(node, name, diagnostics)?;
    if folder.as_os_str().is_empty() {
        let id = name.strip_prefix("sources.").unwrap_or(name);
        let message = format!("`{name}.folder` is empty; name a folder");
        diagnostics.value(&["sources", id, "folder"], message);
    }
    Some(PromptsConfig { folder })
}

/// Where a path of the file leads: it starts at the folder of the file, or at home. The shell is not
/// there to expand a `~`.
pub(crate) fn settle(path: &mut PathBuf, folder: &Path, environment: &Environment<'_>) {
    let home = || environment.variable("HOME").map(PathBuf::from);
    let written = match path
        .strip_prefix("~")
        .ok()
        .and_then(|rest| Some(home()?.join(rest)))
    {
        Some(at_home) => at_home,
        None => folder.join(&*path),
    };
    let absolute = environment.folder().join(written);
    *path = clean(&std::path::absolute(&absolute).unwrap_or(absolute));
}

/// A path without `..`, as it is written: the names in it are those that URIs show.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}
