//! The source `files`: a folder tree as `file://` resources, read-only and watched.

mod config;
mod path_completion;
mod subscribed_uris;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use tidegate_core::{
    BoxFuture, Call, Code, Error, Operation, Reference, Reply, ResourceSubscription, Result,
};
use tokio::task::spawn_blocking;

use crate::declarations::{completion, unknown_method, unknown_name, wrong_source};
use crate::folder::{FolderRoot, FolderSource, ServedFolder, SnapshotFolder, UriBase, Visibility};
pub use config::{FilesConfig, FilesSection};
use subscribed_uris::SubscribedUris;
use view::{FilesView, TEMPLATE_VARIABLE, template_text};

/// The source `files`.
type Files = FolderSource<FilesView>;

/// Opens nothing before it is run.
fn build(id: &str, config: FilesConfig) -> Files {
    let folder = ServedFolder {
        uris: UriBase::file(&config.folder),
        root: FolderRoot::new(config.folder),
        visibility: Visibility::new(
            config.include_hidden,
            config.gitignore,
            config.include,
            config.exclude,
        ),
        max_entries: config.max_files,
        max_file_bytes: config.max_file_bytes,
    };
    Files::new(id, folder, FilesView::default())
}

fn call(files: &Arc<SnapshotFolder<FilesView>>, call: Call) -> BoxFuture<'_, Result<Reply>> {
    Box::pin(async move {
        match &call.operation {
            Operation::Resource { uri } => {
                let path = files.folder.uris.path(uri);
                let path = path.ok_or_else(|| Error::resource_not_found(uri))?;
                Arc::clone(files).read(uri, path).await
            }
            Operation::Completion {
                reference: Reference::Resource(template),
            } => complete(files, &call, template),
            Operation::Completion {
                reference: Reference::Prompt(name),
            }
            | Operation::Prompt { name }
            | Operation::Tool { name } => Err(unknown_name(name)),
            Operation::Gateway(_) | Operation::Task { .. } => Err(wrong_source()),
            Operation::Skill(_) | Operation::Extension { .. } => Err(unknown_method()),
        }
    })
}

fn complete(files: &SnapshotFolder<FilesView>, call: &Call, template: &str) -> Result<Reply> {
    let folder = &files.folder;
    if template != template_text(&folder.uris) {
        return Err(unknown_name(template));
    }
    let variable = completion::argument_name(call)?;
    if variable != TEMPLATE_VARIABLE {
        let message = format!("this template has no variable `{variable}`");
        return Err(Error::client(Code::InvalidParams, message));
    }
    let typed = completion::input(call).typed;
    let tree = &files.snapshot().tree;
    let paths = path_completion::complete(tree, folder.max_file_bytes, &typed);
    Ok(Reply::Done(completion::outcome(&paths)))
}

fn subscribe(files: &Arc<SnapshotFolder<FilesView>>, uri: &str) -> ResourceSubscription {
    let guard = SubscribedUris::add(&files.view.subscribed, uri);
    let (files, uri) = (Arc::clone(files), uri.to_owned());
    let established = async move {
        let recorded = spawn_blocking(move || {
            let path = files.folder.uris.path(&uri);
            let stamp = path.and_then(|path| files.folder.root.stamp(&path));
            files.view.subscribed.record_initial(&uri, stamp);
        });
        // An error means that the gateway is shutting down.
        recorded.await.ok();
    };
    ResourceSubscription::new(guard, established)
}
