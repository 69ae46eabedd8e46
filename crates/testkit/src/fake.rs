//! A scripted source whose calls a test can observe.
//!
//! Must not know: transports, revisions, JSON-RPC.

mod call_monitor;
mod entries;
mod tool;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

use tidegate_core::{
    BoxFuture, CacheScope, Call, Catalog, Change, ChangeSender, ChangeStream, Code, Error,
    Features, LoggingLevel, Operation, Outcome, RawJson, Reply, Result, Source, Viewer,
};

pub use call_monitor::CallCounts;
use call_monitor::CallMonitor;
pub use tool::ScriptedTool;

/// A scripted source. Clones are the same source.
#[derive(Clone, Default)]
pub struct FakeSource(Arc<FakeState>);

#[derive(Default)]
struct FakeState {
    offerings: Mutex<Offerings>,
    changes: ChangeSender,
    catalog_panics: AtomicBool,
}

/// What the source offers, and the catalog built from it.
#[derive(Default)]
struct Offerings {
    catalog: Arc<Catalog>,
    tools: Vec<(ScriptedTool, Arc<CallMonitor>)>,
    prompts: Vec<String>,
    resources: Vec<(String, String)>,
    templates: Vec<String>,
    no_updates: bool,
    scope: CacheScope,
}

impl FakeSource {
    /// A source that offers nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A source with the tools, prompts and resources that most tests use.
    pub fn standard() -> Self {
        let all_levels = LoggingLevel::ALL
            .into_iter()
            .fold(ScriptedTool::new("logs"), ScriptedTool::log);
        Self::empty()
            .tool(ScriptedTool::new("echo"))
            .tool(ScriptedTool::new("progress").progress(3))
            .tool(all_levels)
            .tool(ScriptedTool::new("hold").hold())
            .tool(ScriptedTool::new("stream").progress(1).hold().progress(1))
            .tool(ScriptedTool::new("panic").panics())
            .tool(ScriptedTool::new("late-panic").progress(1).panics())
            .tool(ScriptedTool::new("pretty").returns(tool::PRETTY))
            .tool(ScriptedTool::new("huge").huge(1 << 20))
            .tool(ScriptedTool::new("flood").flood())
            .prompt("hello")
            .resource("fake://note", "first")
            .resource("fake://folder", "a folder")
            .template("fake://item/{id}")
    }

    #[must_use]
    pub fn tool(self, tool: ScriptedTool) -> Self {
        self.modify(|offerings| offerings.tools.push((tool, Arc::default())));
        self
    }

    /// Adds tools that echo, named `tool-000`, `tool-001` and so on.
    #[must_use]
    pub fn many_tools(self, count: usize) -> Self {
        (0..count).fold(self, |source, number| {
            source.tool(ScriptedTool::new(&format!("tool-{number:03}")))
        })
    }

    #[must_use]
    pub fn prompt(self, name: &str) -> Self {
        self.modify(|offerings| offerings.prompts.push(name.to_owned()));
        self
    }

    #[must_use]
    pub fn resource(self, uri: &str, text: &str) -> Self {
        self.modify(|offerings| offerings.resources.push((uri.to_owned(), text.to_owned())));
        self
    }

    #[must_use]
    pub fn template(self, text: &str) -> Self {
        self.modify(|offerings| offerings.templates.push(text.to_owned()));
        self
    }

    /// Makes its resources not subscribable.
    #[must_use]
    pub fn without_updates(self) -> Self {
        self.modify(|offerings| offerings.no_updates = true);
        self
    }

    /// Marks its lists as cacheable for everyone.
    #[must_use]
    pub fn public(self) -> Self {
        self.modify(|offerings| offerings.scope = CacheScope::Public);
        self
    }

    /// Sends a change event, whether or not anything changed.
    pub fn change(&self, change: Change) {
        self.0.changes.send(change);
    }

    /// Sends a change event for a resource.
    pub fn updated(&self, uri: &str) {
        self.change(Change::ResourceUpdated(uri.into()));
    }

    /// From now on, reading its catalog panics.
    pub fn break_catalog(&self) {
        self.0.catalog_panics.store(true, Ordering::Relaxed);
    }

    /// From now on, its catalog can be read again.
    pub fn repair_catalog(&self) {
        self.0.catalog_panics.store(false, Ordering::Relaxed);
    }

    /// Lets this many calls of a tool continue that are held, now or later.
    pub fn release(&self, tool: &str, calls: usize) {
        self.monitor(tool).release(calls);
    }

    /// The numbers of calls of a tool so far.
    pub fn counts(&self, tool: &str) -> CallCounts {
        self.monitor(tool).counts()
    }

    /// Waits until this many calls of a tool have started.
    pub async fn started(&self, tool: &str, calls: usize) {
        self.monitor(tool)
            .wait_until(tool, |counts| counts.started >= calls)
            .await;
    }

    /// Waits until this many calls of a tool were dropped before they finished.
    pub async fn dropped(&self, tool: &str, calls: usize) {
        self.monitor(tool)
            .wait_until(tool, |counts| counts.dropped >= calls)
            .await;
    }

    /// Waits until this many calls of a tool have finished.
    pub async fn finished(&self, tool: &str, calls: usize) {
        self.monitor(tool)
            .wait_until(tool, |counts| counts.finished >= calls)
            .await;
    }

    fn monitor(&self, tool: &str) -> Arc<CallMonitor> {
        let offerings = self.lock();
        let scripted = offerings
            .tools
            .iter()
            .find(|(known, _)| known.name() == tool);
        let (_, monitor) = scripted.unwrap_or_else(|| panic!("the source has no tool `{tool}`"));
        Arc::clone(monitor)
    }

    fn modify(&self, change: impl FnOnce(&mut Offerings)) {
        let mut offerings = self.lock();
        change(&mut offerings);
        offerings.catalog = Arc::new(offerings.catalog());
    }

    fn lock(&self) -> MutexGuard<'_, Offerings> {
        self.0.offerings.lock()
    }
}

impl Offerings {
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
        let resource = self.resources.iter().find(|(known, _)| known == uri);
        resource
            .map(|(uri, text)| entries::contents(uri, text))
            .ok_or_else(|| Error::resource_not_found(uri))
    }
}

impl Source for FakeSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        assert!(
            !self.0.catalog_panics.load(Ordering::Relaxed),
            "scripted panic with a secret message"
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
                Some((tool, monitor)) => Box::pin(tool.run(monitor, call)),
                None => Box::pin(std::future::ready(Err(unknown(name)))),
            };
        }
        let result = match &call.operation {
            Operation::Prompt { name } => Ok(entries::messages(name, &call.params)),
            Operation::Resource { uri } => self.lock().read(uri),
            Operation::Completion { .. } => Ok(entries::completion()),
            Operation::Tool { name } => Err(unknown(name)),
            Operation::Skill(_) | Operation::Extension { .. } => {
                Err(Error::client(Code::MethodNotFound, "unknown method"))
            }
            Operation::Gateway(_) | Operation::Task { .. } => {
                Err(Error::internal("not an operation of a source"))
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
    Error::client(Code::UnknownTarget, format!("unknown tool `{name}`"))
}
