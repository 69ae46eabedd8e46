//! The source `files`: a folder tree as `file://` resources, read-only and watched.

mod complete;
mod config;
pub(crate) mod entries;
mod shelf;
#[cfg(test)]
mod tests;
mod watched;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use tidegate_core::{
    BoxFuture, Call, Catalog, Change, ChangeSender, ChangeStream, Code, Error, ErrorOrigin,
    GaugeValue, Health, Operation, Outcome, Reference, Reply, ResourceSubscription, Result, Source,
    Viewer,
};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use crate::declarations::{completion, unknown_name};
use crate::folder::{
    Base, Desk, Folders, Look, Place, Root, Rules, Told, Unread, Walk, Walked, folders,
    keep_looking,
};
pub use config::{FilesConfig, FilesSection};
use shelf::Shelf;
use watched::Spellings;

/// A folder tree as resources.
pub struct Files(Arc<Inner>);

struct Inner {
    /// The source's own name, for the log.
    name: String,
    root: Root,
    base: Base,
    rules: Rules,
    max_file_bytes: u64,
    max_files: usize,
    shelf: watch::Sender<Arc<Shelf>>,
    changes: ChangeSender,
    spellings: Arc<Spellings>,
    desk: Desk,
}

impl Files {
    /// Nothing is opened before it is run.
    pub fn new(name: &str, config: FilesConfig) -> Self {
        let base = Base::of_folder(&config.root);
        Self(Arc::new(Inner {
            name: name.to_owned(),
            base,
            rules: Rules {
                hidden: config.include_hidden,
                gitignore: config.gitignore,
                include: config.include,
                exclude: config.exclude,
                told: Told::default(),
            },
            root: Root::new(config.root),
            max_file_bytes: config.max_file_bytes,
            max_files: config.max_files,
            shelf: watch::Sender::new(Arc::new(Shelf::coming())),
            changes: ChangeSender::default(),
            spellings: Arc::default(),
            desk: Desk::default(),
        }))
    }

    /// Looks at the folder for as long as it is polled, and tells what changes.
    pub async fn run(self: Arc<Self>) {
        keep_looking(&self.0).await;
    }

    async fn first_look(&self) {
        let mut shelf = self.0.shelf.subscribe();
        // An error means that nobody looks any more.
        shelf.wait_for(|shelf| !shelf.is_coming()).await.ok();
    }
}

impl Inner {
    fn walk(&self) -> Walk<'_> {
        Walk {
            root: &self.root,
            rules: &self.rules,
            most: self.max_files,
        }
    }

    fn now(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.borrow())
    }

    /// Reads a file or a folder, under the URI that it was asked for by (X25).
    async fn read(self: Arc<Self>, uri: &str) -> Result<Reply> {
        let absent = || Error::resource_not_found(uri);
        let place = self.base.place(uri).ok_or_else(absent)?;
        let inner = Arc::clone(&self);
        let (asked, spelled) = (place.clone(), uri.to_owned());
        let read = self.desk.work(move || {
            let contents = inner.walk().read(&asked, inner.max_file_bytes)?;
            Ok(entries::item(&inner.base, &asked, &spelled, contents))
        });
        let read = read.await.unwrap_or_else(|error| {
            let failed = Error::internal("the file could not be read");
            Ok(Err(failed.with_cause(error)))
        });
        let item = read.map_err(|unread| match unread {
            Unread::Nothing if place.is_top() => {
                let message = "the folder of this source is not there";
                Error::new(Code::SourceDown, ErrorOrigin::Source, message)
            }
            unread => entries::unread(uri, self.max_file_bytes, unread),
        })??;
        let result = json!({ "contents": [item] });
        Ok(Reply::Done(Outcome::complete(result.into())))
    }

    fn completion(&self, call: &Call, template: &str) -> Result<Reply> {
        if template != self.template() {
            return Err(unknown_name(template));
        }
        let variable = completion::argument_name(call)?;
        if variable != entries::VARIABLE {
            let message = format!("this template has no variable `{variable}`");
            return Err(Error::client(Code::InvalidParams, message));
        }
        let typed = completion::input(call).typed;
        let values = complete::paths(&self.now().walked, self.max_file_bytes, &typed);
        Ok(Reply::Done(completion::outcome(&values)))
    }

    /// Whether the news of the walk tell of what is watched under this URI. That of a folder lies
    /// below one without the slash.
    fn is_told(&self, walked: &Walked, place: &Place, uri: &str) -> bool {
        let is_file = walked.files.contains_key(place) && self.base.uri(place) == uri;
        let folder = || self.base.folder_uri(place);
        is_file || (walked.folders.contains_key(place) && folder() == closed(uri))
    }

    fn template(&self) -> String {
        format!("{}{{+{}}}", self.base.prefix(), entries::VARIABLE)
    }
}

fn updated(change: &Change) -> Option<&str> {
    match change {
        Change::ResourceUpdated(uri) => Some(uri),
        _ => None,
    }
}

/// A URI with the slash of a folder.
fn closed(uri: &str) -> Cow<'_, str> {
    match uri.ends_with('/') {
        true => uri.into(),
        false => format!("{uri}/").into(),
    }
}

impl Look for Inner {
    fn look(&self) -> Folders {
        let before = self.now();
        let shelf = match self.walk().go(&before.walked) {
            Ok(walked) => Shelf::of(walked, self, &before),
            Err(absent) => Shelf::closed(self.root.why_closed(&absent, "root"), &before),
        };
        shelf.log(&self.name, &before);
        let news = shelf.news(&self.base, &before);
        let folders = folders(&self.root, &shelf.walked);
        let shelf = Arc::new(shelf);
        self.shelf.send_replace(Arc::clone(&shelf));
        let elsewhere = self.spellings.changed(|uri, known| {
            let place = self.base.place(uri)?;
            let is_told = self.is_told(&shelf.walked, &place, uri);
            let now = self.root.open(&place).ok().map(|found| found.stamp);
            (!is_told && now != known).then_some(now)
        });
        let told: HashSet<_> = news.iter().filter_map(updated).collect();
        let is_new = |uri: &String| !told.contains(uri.as_str()) && !told.contains(&*closed(uri));
        let elsewhere: Vec<_> = elsewhere.into_iter().filter(is_new).collect();
        drop(told);
        let elsewhere = elsewhere
            .into_iter()
            .map(|uri| Change::ResourceUpdated(uri.into()));
        for change in news.into_iter().chain(elsewhere) {
            self.changes.send(change);
        }
        folders
    }
}

impl Source for Files {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(&self.0.now().catalog)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            match &call.operation {
                Operation::Resource { uri } => inner.read(uri).await,
                Operation::Completion {
                    reference: Reference::Resource(template),
                } => inner.completion(&call, template),
                Operation::Completion {
                    reference: Reference::Prompt(name),
                }
                | Operation::Prompt { name }
                | Operation::Tool { name } => Err(unknown_name(name)),
                Operation::Gateway(_) | Operation::Task { .. } => {
                    Err(Error::internal("a call went to the wrong source"))
                }
            }
        })
    }

    fn changes(&self) -> ChangeStream {
        self.0.changes.stream()
    }

    /// What is listed is looked at anyway, under the URI it is listed by.
    fn subscribe(&self, uri: &str) -> ResourceSubscription {
        let guard = Spellings::add(&self.0.spellings, uri);
        let (inner, uri) = (Arc::clone(&self.0), uri.to_owned());
        let begun = async move {
            let looked = spawn_blocking(move || {
                let place = inner.base.place(&uri);
                let found = place.and_then(|place| inner.root.open(&place).ok());
                inner.spellings.begin(&uri, found.map(|found| found.stamp));
            });
            // An error means that the gateway is going.
            looked.await.ok();
        };
        ResourceSubscription::new(guard, begun)
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.first_look())
    }

    fn wait_for_catalog(&self, _: &Viewer<'_>) -> BoxFuture<'_, ()> {
        Box::pin(self.first_look())
    }

    fn health(&self) -> Health {
        self.0.now().health()
    }

    fn gauges(&self) -> Vec<GaugeValue> {
        let folders = self.0.now().walked.folders.len();
        vec![GaugeValue {
            name: "folders",
            value: u64::try_from(folders).unwrap_or(u64::MAX),
        }]
    }
}
