//! The source `prompts`: a folder of Markdown as prompts, and of skills as prompts and resources.

mod argument;
mod config;
mod front;
mod library;
mod prompt;
mod shelf;
mod skill;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use serde_json::json;
use tidegate_core::{
    BoxFuture, Call, Catalog, ChangeSender, ChangeStream, Code, Error, GaugeValue, Health,
    Operation, Outcome, Reference, Reply, Result, Source, Viewer,
};
use tokio::sync::watch;

use crate::declarations::{arguments_text, completion, unknown_name};
use crate::files::entries;
use crate::folder::{
    Base, Desk, Folders, Look, Patterns, Root, Rules, Told, Unread, Walk, folders, keep_looking,
};
pub use config::{PromptsConfig, PromptsSection};
use library::Library;
use shelf::Shelf;

/// Files that are looked at: prompts, and all that belongs to skills.
const MOST_FILES: usize = 10_000;
/// Bytes of a file of a skill.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A folder of prompts and skills.
pub struct Prompts(Arc<Inner>);

struct Inner {
    /// The source's own name, for the log.
    name: String,
    root: Root,
    base: Base,
    rules: Rules,
    shelf: watch::Sender<Arc<Shelf>>,
    changes: ChangeSender,
    desk: Desk,
}

impl Prompts {
    /// Nothing is opened before it is run.
    pub fn new(name: &str, config: PromptsConfig) -> Self {
        Self(Arc::new(Inner {
            name: name.to_owned(),
            root: Root::new(config.folder),
            base: skill::BASE,
            rules: Rules {
                hidden: false,
                gitignore: false,
                include: Patterns::default(),
                exclude: Patterns::default(),
                told: Told::default(),
            },
            shelf: watch::Sender::new(Arc::new(Shelf::coming())),
            changes: ChangeSender::default(),
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
            most: MOST_FILES,
        }
    }

    fn now(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.borrow())
    }

    /// Reads a file or a folder of a skill.
    async fn read(self: Arc<Self>, uri: &str) -> Result<Reply> {
        let absent = || Error::resource_not_found(uri);
        let place = self.base.place(uri).ok_or_else(absent)?;
        self.now().library.skill_of(&place).ok_or_else(absent)?;
        let (inner, spelled) = (Arc::clone(&self), uri.to_owned());
        let read = self.desk.work(move || {
            let contents = inner.walk().read(&place, MOST_BYTES)?;
            Ok(entries::item(&inner.base, &place, &spelled, contents))
        });
        let read = read.await.unwrap_or_else(|error| {
            let failed = Error::internal("the file could not be read");
            Ok(Err(failed.with_cause(error)))
        });
        let item = read.map_err(|unread: Unread| entries::unread(uri, MOST_BYTES, unread))??;
        let result = json!({ "contents": [item] });
        Ok(Reply::Done(Outcome::complete(result.into())))
    }

    fn completion(&self, call: &Call, name: &str) -> Result<Reply> {
        let shelf = self.now();
        let prompt = shelf.library.prompts.get(name);
        let prompt = prompt.ok_or_else(|| unknown_name(name))?;
        let argument = completion::argument_name(call)?;
        let argument = prompt.argument(&argument).ok_or_else(|| {
            let message = "this prompt has no such argument";
            Error::client(Code::InvalidParams, message)
        })?;
        let values = argument.suggested(&completion::input(call).typed);
        Ok(Reply::Done(completion::outcome(&values)))
    }
}

impl Look for Inner {
    fn look(&self) -> Folders {
        let before = self.now();
        let shelf = match self.walk().go(&before.walked) {
            Ok(walked) => {
                let library = Library::read(&self.root, &walked, &before.library);
                Shelf::of(walked, library, &self.base)
            }
            Err(absent) => Shelf::closed(self.root.why_closed(&absent, "folder")),
        };
        let shelf = shelf.after(&before);
        shelf.log(&self.name, &before);
        let news = shelf.news(&self.base, &before);
        let folders = folders(&self.root, &shelf.walked);
        self.shelf.send_replace(Arc::new(shelf));
        for change in news {
            self.changes.send(change);
        }
        folders
    }
}

impl Source for Prompts {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(&self.0.now().catalog)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            match &call.operation {
                Operation::Prompt { name } => {
                    let shelf = inner.now();
                    let prompt = shelf.library.prompts.get(name);
                    let prompt = prompt.ok_or_else(|| unknown_name(name))?;
                    prompt.get(&arguments_text(&call)).map(Reply::Done)
                }
                Operation::Resource { uri } => inner.read(uri).await,
                Operation::Completion {
                    reference: Reference::Prompt(name),
                } => inner.completion(&call, name),
                Operation::Completion {
                    reference: Reference::Resource(name),
                }
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
        let shelf = self.0.now();
        let vital = |name, count| GaugeValue {
            name,
            value: u64::try_from(count).unwrap_or(u64::MAX),
        };
        vec![
            vital("skills", shelf.library.skills.len()),
            vital("problems", shelf.library.problems.len()),
        ]
    }
}
