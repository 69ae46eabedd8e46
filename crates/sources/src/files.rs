//! The source `files`: a folder tree as `file://` resources, read-only and watched.

mod config;
mod path_completion;
mod subscribed_uris;
#[cfg(test)]
mod tests;
mod view;

use std::sync::Arc;

use tidegate_core::{
    BoxFuture, Call, Catalog, ChangeStream, Code, Error, GaugeValue, Health, Operation, Reference,
    Reply, ResourceSubscription, Result, Source, Viewer,
};
use tokio::task::spawn_blocking;

use crate::declarations::{completion, unknown_name};
use crate::folder::{FolderRoot, ServedFolder, SnapshotFolder, UriBase, Visibility};
pub use config::{FilesConfig, FilesSection};
use subscribed_uris::SubscribedUris;
use view::{FilesView, TEMPLATE_VARIABLE, template_text};

/// The source `files`.
pub struct Files(Arc<SnapshotFolder<FilesView>>);

impl Files {
    /// Opens nothing before it is run.
    pub fn new(name: &str, config: FilesConfig) -> Self {
        let folder = ServedFolder {
            uris: UriBase::file(&config.root),
            root: FolderRoot::new(config.root),
            visibility: Visibility::new(
                config.include_hidden,
                config.gitignore,
                config.include,
                config.exclude,
            ),
            max_entries: config.max_files,
            max_file_bytes: config.max_file_bytes,
        };
        let view = FilesView::default();
        Self(Arc::new(SnapshotFolder::new(name, folder, view)))
    }

    /// Scans the folder and announces changes for as long as it is polled.
    pub async fn run(self: Arc<Self>) {
        Arc::clone(&self.0).run().await;
    }

    fn complete(&self, call: &Call, template: &str) -> Result<Reply> {
        let folder = &self.0.folder;
        if template != template_text(&folder.uris) {
            return Err(unknown_name(template));
        }
        let variable = completion::argument_name(call)?;
        if variable != TEMPLATE_VARIABLE {
            let message = format!("this template has no variable `{variable}`");
            return Err(Error::client(Code::InvalidParams, message));
        }
        let typed = completion::input(call).typed;
        let tree = &self.0.snapshot().tree;
        let paths = path_completion::complete(tree, folder.max_file_bytes, &typed);
        Ok(Reply::Done(completion::outcome(&paths)))
    }
}

impl Source for Files {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        self.0.catalog()
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move {
            match &call.operation {
                Operation::Resource { uri } => {
                    let path = self.0.folder.uris.path(uri);
                    let path = path.ok_or_else(|| Error::resource_not_found(uri))?;
                    Arc::clone(&self.0).read(uri, path).await
                }
                Operation::Completion {
                    reference: Reference::Resource(template),
                } => self.complete(&call, template),
                Operation::Completion {
                    reference: Reference::Prompt(name),
                }
                | Operation::Prompt { name }
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

    fn subscribe(&self, uri: &str) -> ResourceSubscription {
        let guard = SubscribedUris::add(&self.0.view.subscribed, uri);
        let (files, uri) = (Arc::clone(&self.0), uri.to_owned());
        let started = async move {
            let recorded = spawn_blocking(move || {
                let path = files.folder.uris.path(&uri);
                let stamp = path.and_then(|path| files.folder.root.stamp(&path));
                files.view.subscribed.record_initial(&uri, stamp);
            });
            // An error means that the gateway is shutting down.
            recorded.await.ok();
        };
        ResourceSubscription::new(guard, started)
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
        let folders = self.0.snapshot().tree.folders.len();
        vec![GaugeValue {
            name: "folders",
            value: u64::try_from(folders).unwrap_or(u64::MAX),
        }]
    }
}
