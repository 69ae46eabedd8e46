//! The source `prompts`: a folder of Markdown files as prompts, and of skills as prompts and
//! resources.

mod argument;
mod config;
mod front_matter;
mod library;
mod prompt_file;
mod skill;
#[cfg(test)]
mod tests;
mod text_template;
mod view;

use std::sync::Arc;

use tidegate_core::{
    BoxFuture, Call, Catalog, ChangeStream, Code, Error, GaugeValue, Health, Operation, Reference,
    Reply, Result, Source, Viewer,
};

use crate::declarations::{arguments_text, completion, unknown_name};
use crate::folder::{FolderRoot, Patterns, ServedFolder, SnapshotFolder, Visibility};
pub use config::{PromptsConfig, PromptsSection};
use prompt_file::PromptFile;
use view::PromptsView;

/// Files that are scanned: prompts, and all files of skills.
const MAX_FILES: usize = 10_000;

/// The size limit of files of skills.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The source `prompts`.
pub struct Prompts(Arc<SnapshotFolder<PromptsView>>);

impl Prompts {
    /// Opens nothing before it is run.
    pub fn new(name: &str, config: PromptsConfig) -> Self {
        let folder = ServedFolder {
            root: FolderRoot::new(config.folder),
            visibility: Visibility::new(false, false, Patterns::default(), Patterns::default()),
            uris: skill::URIS,
            max_entries: MAX_FILES,
            max_file_bytes: MAX_FILE_BYTES,
        };
        Self(Arc::new(SnapshotFolder::new(name, folder, PromptsView)))
    }

    /// Scans the folder and announces changes for as long as it is polled.
    pub async fn run(self: Arc<Self>) {
        Arc::clone(&self.0).run().await;
    }

    fn prompt(&self, name: &str) -> Result<Arc<PromptFile>> {
        let snapshot = self.0.snapshot();
        let prompt = snapshot.details.prompts.get(name);
        prompt.cloned().ok_or_else(|| unknown_name(name))
    }

    /// Reads a file or lists a folder of a skill.
    async fn read(&self, uri: &str) -> Result<Reply> {
        let not_found = || Error::resource_not_found(uri);
        let path = self.0.folder.uris.path(uri).ok_or_else(not_found)?;
        let snapshot = self.0.snapshot();
        snapshot.details.skill_of(&path).ok_or_else(not_found)?;
        Arc::clone(&self.0).read(uri, path).await
    }

    fn complete(&self, call: &Call, name: &str) -> Result<Reply> {
        let prompt = self.prompt(name)?;
        let argument = completion::argument_name(call)?;
        let argument = prompt.argument(&argument).ok_or_else(|| {
            let message = "this prompt has no such argument";
            Error::client(Code::InvalidParams, message)
        })?;
        let values = argument.complete(&completion::input(call).typed);
        Ok(Reply::Done(completion::outcome(&values)))
    }
}

impl Source for Prompts {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        self.0.catalog()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move {
            match &call.operation {
                Operation::Prompt { name } => {
                    let prompt = self.prompt(name)?;
                    prompt.get(&arguments_text(&call)).map(Reply::Done)
                }
                Operation::Resource { uri } => self.read(uri).await,
                Operation::Completion {
                    reference: Reference::Prompt(name),
                } => self.complete(&call, name),
                Operation::Completion {
                    reference: Reference::Resource(name),
                }
                | Operation::Tool { name } => Err(unknown_name(name)),
                Operation::Gateway(_) | Operation::Task { .. } => {
                    Err(Error::internal("a call was routed to the wrong source"))
                }
            }
        })
    }

    fn changes(&self) -> ChangeStream {
        self.0.change_stream()
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.wait_for_first_scan())
    }

    fn wait_for_catalog(&self, _: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(self.0.wait_for_first_scan())
    }

    fn health(&self) -> Health {
        self.0.health()
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let snapshot = self.0.snapshot();
        let gauge = |name, count| GaugeValue {
            name,
            value: u64::try_from(count).unwrap_or(u64::MAX),
        };
        vec![
            gauge("skills", snapshot.details.skills.len()),
            gauge("problems", snapshot.details.problems.len()),
        ]
    }
}
