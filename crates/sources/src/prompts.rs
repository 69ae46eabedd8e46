//! The source `prompts`: a folder of Markdown files as prompts, and of skills as prompts and
//! resources.

mod argument;
mod config;
mod front_matter;
mod library;
mod prompt_file;
mod skill;
mod skill_entries;
#[cfg(test)]
mod tests;
mod text_template;
mod view;

use std::sync::Arc;

use tidegate_core::{BoxFuture, Call, Code, Error, Operation, Reference, Reply, Result};

use crate::declarations::{arguments_text, completion, unknown_method, unknown_name, wrong_source};
use crate::folder::{FolderRoot, FolderSource, Patterns, ServedFolder, SnapshotFolder, Visibility};
pub use config::{PromptsConfig, PromptsSection};
use prompt_file::PromptFile;
use view::PromptsView;

/// Files that are scanned: prompts, and all files of skills.
const MAX_FILES: usize = 10_000;

/// The size limit of files of skills.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The source `prompts`.
type Prompts = FolderSource<PromptsView>;

/// Opens nothing before it is run.
fn build(id: &str, config: PromptsConfig) -> Prompts {
    let folder = ServedFolder {
        root: FolderRoot::new(config.folder),
        visibility: Visibility::new(false, false, Patterns::default(), Patterns::default()),
        uris: skill::URIS,
        max_entries: MAX_FILES,
        max_file_bytes: MAX_FILE_BYTES,
    };
    Prompts::new(id, folder, PromptsView)
}

fn call(folder: &Arc<SnapshotFolder<PromptsView>>, call: Call) -> BoxFuture<'_, Result<Reply>> {
    Box::pin(async move {
        match &call.operation {
            Operation::Prompt { name } => {
                let prompt = prompt(folder, name)?;
                prompt.get(&arguments_text(&call)).map(Reply::Done)
            }
            Operation::Resource { uri } => read(folder, uri).await,
            Operation::Completion {
                reference: Reference::Prompt(name),
            } => complete(folder, &call, name),
            Operation::Completion {
                reference: Reference::Resource(name),
            }
            | Operation::Tool { name } => Err(unknown_name(name)),
            Operation::Skill(operation) => skill_entries::serve(folder, operation).await,
            Operation::Extension { .. } => Err(unknown_method()),
            Operation::Gateway(_) | Operation::Task { .. } => Err(wrong_source()),
        }
    })
}

fn prompt(folder: &SnapshotFolder<PromptsView>, name: &str) -> Result<Arc<PromptFile>> {
    let snapshot = folder.snapshot();
    let prompt = snapshot.details.prompts.get(name);
    prompt.cloned().ok_or_else(|| unknown_name(name))
}

/// Reads a file or lists a folder of a skill.
async fn read(folder: &Arc<SnapshotFolder<PromptsView>>, uri: &str) -> Result<Reply> {
    let not_found = || Error::resource_not_found(uri);
    let path = folder.folder.uris.path(uri).ok_or_else(not_found)?;
    let snapshot = folder.snapshot();
    snapshot.details.skill_of(&path).ok_or_else(not_found)?;
    Arc::clone(folder).read(uri, path).await
}

fn complete(folder: &SnapshotFolder<PromptsView>, call: &Call, name: &str) -> Result<Reply> {
    let prompt = prompt(folder, name)?;
    let argument = completion::argument_name(call)?;
    let argument = prompt.argument(&argument).ok_or_else(|| {
        let message = "this prompt has no such argument";
        Error::client(Code::InvalidParams, message)
    })?;
    let values = argument.complete(&completion::input(call).typed);
    Ok(Reply::Done(completion::outcome(&values)))
}
