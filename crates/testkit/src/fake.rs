//! A source that does what a test tells it to, and lets the test watch.
//!
//! Must not know: transports, revisions, JSON-RPC.

mod entries;
mod tool;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tidegate_core::{
    BoxFuture, CacheScope, Call, Catalog, Change, ChangeSender, ChangeStream, Code, Error,
    Features, LogLevel, Operation, Outcome, RawJson, Reply, Result, Source, Viewer,
};

pub use tool::Tool;
pub use watch::Counts;
use watch::Watch;

/// A scripted source. Clones are the same source.
#[derive(Clone, Default)]
pub struct FakeSource(Arc<Inner>);

#[derive(Default)]
struct Inner {
    offer: Mutex<Offer>,
    changes: ChangeSender,
    catalog_panics: AtomicBool,
}

/// What the source has, and the catalog made of it.
#[derive(Default)]
struct Offer {
    catalog: Arc<Catalog>,
    tools: Vec<(Tool, Arc<Watch>)>,
    prompts: Vec<String>,
    resources: Vec<(String, String)>,
    templates: Vec<String>,
    no_updates: bool,
    scope: CacheScope,
}

impl FakeSource {
    /// A source with nothing in it.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A source with one of everything that most tests need.
    pub fn standard() -> Self {
        let all_levels = LogLevel::ALL
            .into_iter()
            .fold(Tool::named("logs"), Tool::log);
        Self::empty()
            .tool(Tool::named("echo"))
            .tool(Tool::named("progress").progress(3))
            .tool(all_levels)
            .tool(Tool::named("hold").hold())
            .tool(Tool::named("stream").progress(1).hold().progress(1))
            .tool(Tool::named("panic").panics())
            .tool(Tool::named("late-panic").progress(1).panics())
            .tool(Tool::named("pretty").answers(tool::PRETTY))
            .tool(Tool::named("huge").huge(1 << 20))
            .tool(Tool::named("flood").flood())
            .prompt("hello")
            .resource("fake://note", "first")
            .resource("fake://folder", "a folder")
            .template("fake://item/{id}")
    }

    #[must_use]
    pub fn tool(self, tool: Tool) -> Self {
        self.offer(|offer| offer.tools.push((tool, Arc::default())));
        self
    }

    /// Many tools that echo: `tool-000`, `tool-001` and so on.
    #[must_use]
    pub fn many_tools(self, count: usize) -> Self {
        (0..count).fold(self, |source, number| {
            source.tool(Tool::named(&format!("tool-{number:03}")))
        })
    }

    #[must_use]
    pub fn prompt(self, name: &str) -> Self {
        self.offer(|offer| offer.prompts.push(name.to_owned()));
        self
    }

    #[must_use]
    pub fn resource(self, uri: &str, text: &str) -> Self {
        self.offer(|offer| offer.resources.push((uri.to_owned(), text.to_owned())));
        self
    }

    #[must_use]
    pub fn template(self, text: &str) -> Self {
        self.offer(|offer| offer.templates.push(text.to_owned()));
        self
    }

    /// Its resources cannot be subscribed to.
    #[must_use]
    pub fn without_updates(self) -> Self {
        self.offer(|offer| offer.no_updates = true);
        self
    }

    /// Anybody may be given a kept copy of what it lists.
    #[must_use]
    pub fn public(self) -> Self {
        self.offer(|offer| offer.scope = CacheScope::Public);
        self
    }

    /// Says that something changed, whether or not it did.
    pub fn change(&self, change: Change) {
        self.0.changes.send(change);
    }

    /// Says that a resource changed.
    pub fn updated(&self, uri: &str) {
        self.change(Change::ResourceUpdated(uri.into()));
    }

    /// From now on its catalog cannot be had.
    pub fn break_catalog(&self) {
        self.0.catalog_panics.store(true, Ordering::Relaxed);
    }

    /// From now on it can again.
    pub fn mend_catalog(&self) {
        self.0.catalog_panics.store(false, Ordering::Relaxed);
    }

    /// Lets that many calls of a tool go on that hold, now or later.
    pub fn release(&self, tool: &str, calls: usize) {
        self.watch(tool).release(calls);
    }

    /// How often a tool was started, finished and dropped so far.
    pub fn counts(&self, tool: &str) -> Counts {
        self.watch(tool).counts()
    }

    /// Waits until that many calls of a tool have started.
    pub async fn started(&self, tool: &str, calls: usize) {
        self.watch(tool)
            .until(tool, |counts| counts.started >= calls)
            .await;
    }

    /// Waits until that many calls of a tool have been dropped before their end: cancelled.
    pub async fn dropped(&self, tool: &str, calls: usize) {
        self.watch(tool)
            .until(tool, |counts| counts.dropped >= calls)
            .await;
    }

    /// Waits until that many calls of a tool have come to their end.
    pub async fn finished(&self, tool: &str, calls: usize) {
        self.watch(tool)
            .until(tool, |counts| counts.finished >= calls)
            .await;
    }

    fn watch(&self, tool: &str) -> Arc<Watch> {
        let offer = self.lock();
        let found = offer.tools.iter().find(|(known, _)| known.name() == tool);
        let (_, watch) = found.unwrap_or_else(|| panic!("the source has no tool `{tool}`"));
        Arc::clone(watch)
    }

    fn offer(&self, change: impl FnOnce(&mut Offer)) {
        let mut offer = self.lock();
        change(&mut offer);
        offer.catalog = Arc::new(offer.catalog());
    }

    fn lock(&self) -> MutexGuard<'_, Offer> {
        self.0.offer.lock()
    }
}

impl Offer {
    fn catalog(&self) -> Catalog {
        Catalog {
            features: Features {
                subscribe: !self.no_updates,
                ..Features::ALL
            },
            scope: self.scope,
            tools: self.tools.iter().map(|(tool, _)| tool.entry()).collect(),
            prompts: self
                .prompts
                .iter()
                .map(|name| entries::prompt(name))
                .collect(),
            resources: self
                .resources
                .iter()
                .map(|(uri, _)| entries::resource(uri))
                .collect(),
            templates: self
                .templates
                .iter()
                .map(|text| entries::template(text))
                .collect(),
            ..Catalog::default()
        }
    }

    fn read(&self, uri: &str) -> Result<RawJson> {
        let found = self.resources.iter().find(|(known, _)| known == uri);
        found
            .map(|(uri, text)| entries::contents(uri, text))
            .ok_or_else(|| Error::resource_not_found(uri))
    }
}

impl Source for FakeSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        assert!(
            !self.0.catalog_panics.load(Ordering::Relaxed),
            "the catalog is broken, and these words are secret"
        );
        Arc::clone(&self.lock().catalog)
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        if let Operation::Tool { name } = &call.operation {
            let tool = self
                .lock()
                .tools
                .iter()
                .find(|(tool, _)| tool.name() == name)
                .cloned();
            return match tool {
                Some((tool, watch)) => Box::pin(tool.run(watch, call)),
                None => Box::pin(std::future::ready(Err(unknown(name)))),
            };
        }
        let result = match &call.operation {
            Operation::Prompt { name } => Ok(entries::messages(name, &call.params)),
            Operation::Resource { uri } => self.lock().read(uri),
            Operation::Completion { .. } => Ok(entries::completion()),
            Operation::Tool { name } => Err(unknown(name)),
            Operation::Gateway(_) | Operation::Task { .. } => {
                Err(Error::internal("this is not for a source"))
            }
        };
        let reply = result.map(|result| Reply::Done(Outcome::complete(result)));
        Box::pin(std::future::ready(reply))
    }

    fn changes(&self) -> ChangeStream {
        self.0.changes.stream()
    }
}

fn unknown(name: &str) -> Error {
    Error::client(Code::UnknownTarget, format!("no tool is called `{name}`"))
}
