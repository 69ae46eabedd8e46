//! A tool that runs a script: steps, then an end.
//!
//! Steps before the first event run in the call's future, later ones in its stream, so a script
//! decides where a call blocks or fails. Must not know: who observes it.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tidegate_core::{
    Call, CatalogEntry, Code, Error, ErrorOrigin, Event, LoggingLevel, Outcome, RawJson, Reply,
    Result,
};

use super::call_monitor::{CallMonitor, MonitoredCall};

/// A result on several lines, with a number and a member order that reserialization would lose.
pub(super) const PRETTY: &str = "{\n  \"content\": [\r\n    {\n      \"type\": \"text\",\n      \
    \"text\": \"one\\ntwo\"\n    }\n  ],\n  \"z\": 1.50,\n  \"a\": 12345678901234567890\n}";

const FLOOD_EVENT_BYTES: usize = 64 * 1024;

/// A tool with a script. By default it echoes its arguments.
#[derive(Clone, Debug)]
pub struct ScriptedTool {
    name: String,
    definition: Option<RawJson>,
    steps: Vec<ScriptStep>,
    end: ScriptEnd,
}

#[derive(Clone, Debug)]
enum ScriptStep {
    Progress { done: usize, of: usize },
    Log(LoggingLevel),
    Hold,
    Flood,
    Panic,
}

#[derive(Clone, Debug)]
enum ScriptEnd {
    Echo,
    Result(RawJson),
    Fail(Code),
    Silence,
}

impl ScriptedTool {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            definition: None,
            steps: Vec::new(),
            end: ScriptEnd::Echo,
        }
    }

    /// Adds this many progress notifications.
    #[must_use]
    pub fn progress(mut self, of: usize) -> Self {
        self.steps
            .extend((1..=of).map(|done| ScriptStep::Progress { done, of }));
        self
    }

    /// Adds a log message.
    #[must_use]
    pub fn log(mut self, level: LoggingLevel) -> Self {
        self.steps.push(ScriptStep::Log(level));
        self
    }

    /// Adds a step that waits until the test releases the call.
    #[must_use]
    pub fn hold(mut self) -> Self {
        self.steps.push(ScriptStep::Hold);
        self
    }

    /// Adds large progress notifications without end.
    #[must_use]
    pub fn flood(mut self) -> Self {
        self.steps.push(ScriptStep::Flood);
        self
    }

    /// Adds a panic.
    #[must_use]
    pub fn panics(mut self) -> Self {
        self.steps.push(ScriptStep::Panic);
        self
    }

    /// Ends with this result, byte for byte.
    #[must_use]
    pub fn returns(mut self, result: &str) -> Self {
        self.end = ScriptEnd::Result(RawJson::parse(result.to_owned()).expect("a result is JSON"));
        self
    }

    /// Ends with a result of this many bytes.
    #[must_use]
    pub fn huge(self, bytes: usize) -> Self {
        let text = "x".repeat(bytes);
        self.returns(&json!({ "content": [{ "type": "text", "text": text }] }).to_string())
    }

    /// Ends with an error whose cause no client may see.
    #[must_use]
    pub fn fails(mut self, code: Code) -> Self {
        self.end = ScriptEnd::Fail(code);
        self
    }

    /// Ends without a result, which violates the contract of a source.
    #[must_use]
    pub fn ends_without_result(mut self) -> Self {
        self.end = ScriptEnd::Silence;
        self
    }

    /// Lists the tool with this definition, byte for byte.
    #[must_use]
    pub fn with_definition(mut self, definition: &str) -> Self {
        let definition = RawJson::parse(definition.to_owned());
        self.definition = Some(definition.expect("a definition is JSON"));
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let default_definition = || {
            let schema = json!({ "type": "object" });
            json!({ "name": self.name, "description": "follows a script", "inputSchema": schema })
                .into()
        };
        CatalogEntry {
            key: self.name.clone(),
            definition: self.definition.clone().unwrap_or_else(default_definition),
        }
    }

    pub(super) async fn run(self, monitor: Arc<CallMonitor>, call: Call) -> Result<Reply> {
        let mut run = ScriptRun {
            steps: self.steps.into_iter(),
            end: Some(self.end),
            monitored: MonitoredCall::new(monitor),
            call,
        };
        match run.next().await {
            Some(Ok(Event::Done(outcome))) => Ok(Reply::Done(outcome)),
            Some(Err(error)) => Err(error),
            first => {
                let rest = stream::unfold(run, |mut run| async {
                    let event = run.next().await?;
                    Some((event, run))
                });
                Ok(Reply::Stream(stream::iter(first).chain(rest).boxed()))
            }
        }
    }
}

/// A script in progress.
struct ScriptRun {
    steps: std::vec::IntoIter<ScriptStep>,
    end: Option<ScriptEnd>,
    monitored: MonitoredCall,
    call: Call,
}

impl ScriptRun {
    async fn next(&mut self) -> Option<Result<Event>> {
        while let Some(step) = self.steps.as_slice().first() {
            match step {
                ScriptStep::Hold => self.monitored.monitor.hold().await,
                ScriptStep::Panic => panic!("scripted panic with a secret message"),
                ScriptStep::Flood => {
                    // Not removed from the steps, so it repeats; other tasks get their turn.
                    tokio::task::yield_now().await;
                    return Some(Ok(flood_event()));
                }
                ScriptStep::Progress { done, of } => {
                    let event = progress(*done, *of);
                    self.steps.next();
                    return Some(Ok(event));
                }
                ScriptStep::Log(level) => {
                    let event = log(*level);
                    self.steps.next();
                    return Some(Ok(event));
                }
            }
            self.steps.next();
        }
        let end = self.end.take()?;
        self.monitored.end();
        match end {
            ScriptEnd::Echo => Some(Ok(done(echo(&self.call)))),
            ScriptEnd::Result(result) => Some(Ok(done(result))),
            ScriptEnd::Fail(code) => Some(Err(failure(code))),
            ScriptEnd::Silence => None,
        }
    }
}

fn done(result: RawJson) -> Event {
    Event::Done(Outcome::complete(result))
}

fn progress(done: usize, of: usize) -> Event {
    Event::Progress(json!({ "progress": done, "total": of }).into())
}

fn flood_event() -> Event {
    Event::Progress(json!({ "progress": 1, "message": "~".repeat(FLOOD_EVENT_BYTES) }).into())
}

fn log(level: LoggingLevel) -> Event {
    let params = json!({ "level": level.as_str(), "logger": "fake", "data": level.as_str() });
    Event::Log {
        level,
        params: params.into(),
    }
}

fn failure(code: Code) -> Error {
    Error::new(code, ErrorOrigin::Source, "scripted failure").with_cause("scripted secret cause")
}

/// The arguments as text and as structured content, and the caller.
fn echo(call: &Call) -> RawJson {
    let params = call.params.object().unwrap_or_default();
    let arguments = params.get("arguments").unwrap_or("{}");
    let text = RawJson::string(arguments);
    let principal = RawJson::string(call.caller.principal.as_str());
    let text = format!(
        r#"{{"content":[{{"type":"text","text":{text}}},{{"type":"text","text":{principal}}}],"structuredContent":{arguments}}}"#
    );
    RawJson::parse(text).expect("valid JSON")
}
