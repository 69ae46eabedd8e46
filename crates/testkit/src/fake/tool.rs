//! A tool that follows a script: steps, then an end.
//!
//! What comes before the first event happens in the call's future, the rest in its stream, so a
//! script decides where it holds or breaks. Must not know: who watches.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::json;
use tidegate_core::{
    Call, CatalogEntry, Code, Error, ErrorOrigin, Event, LogLevel, Outcome, RawJson, Reply, Result,
};

use super::watch::{Watch, Watched};

/// A result on several lines, with a number and an order that a careless copy would lose.
pub(super) const PRETTY: &str = "{\n  \"content\": [\r\n    {\n      \"type\": \"text\",\n      \
    \"text\": \"one\\ntwo\"\n    }\n  ],\n  \"z\": 1.50,\n  \"a\": 12345678901234567890\n}";

/// Bytes of one event of a flood.
const WAVE: usize = 64 * 1024;

/// A tool with its script. Without more words it echoes its arguments.
#[derive(Clone, Debug)]
pub struct Tool {
    name: String,
    definition: Option<RawJson>,
    steps: Vec<Step>,
    end: End,
}

#[derive(Clone, Debug)]
enum Step {
    Progress { done: usize, of: usize },
    Log(LogLevel),
    Hold,
    Flood,
    Panic,
}

#[derive(Clone, Debug)]
enum End {
    Echo,
    Result(RawJson),
    Fail(Code),
    Silence,
}

impl Tool {
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            definition: None,
            steps: Vec::new(),
            end: End::Echo,
        }
    }

    /// Then it tells that many times how far it is.
    #[must_use]
    pub fn progress(mut self, of: usize) -> Self {
        self.steps
            .extend((1..=of).map(|done| Step::Progress { done, of }));
        self
    }

    /// Then it logs something.
    #[must_use]
    pub fn log(mut self, level: LogLevel) -> Self {
        self.steps.push(Step::Log(level));
        self
    }

    /// Then it waits until the test releases it.
    #[must_use]
    pub fn hold(mut self) -> Self {
        self.steps.push(Step::Hold);
        self
    }

    /// Then it tells large progress for ever.
    #[must_use]
    pub fn flood(mut self) -> Self {
        self.steps.push(Step::Flood);
        self
    }

    /// Then it breaks.
    #[must_use]
    pub fn panics(mut self) -> Self {
        self.steps.push(Step::Panic);
        self
    }

    /// In the end it gives this result, word for word.
    #[must_use]
    pub fn answers(mut self, result: &str) -> Self {
        self.end = End::Result(RawJson::parse(result.to_owned()).expect("a result is JSON"));
        self
    }

    /// In the end it gives a result of that many bytes.
    #[must_use]
    pub fn huge(self, bytes: usize) -> Self {
        let text = "x".repeat(bytes);
        self.answers(&json!({ "content": [{ "type": "text", "text": text }] }).to_string())
    }

    /// In the end it fails, for a reason that no client may see.
    #[must_use]
    pub fn fails(mut self, code: Code) -> Self {
        self.end = End::Fail(code);
        self
    }

    /// In the end it just stops, against the rules.
    #[must_use]
    pub fn stops_short(mut self) -> Self {
        self.end = End::Silence;
        self
    }

    /// It is listed with this definition, word for word.
    #[must_use]
    pub fn defined(mut self, definition: &str) -> Self {
        let definition = RawJson::parse(definition.to_owned());
        self.definition = Some(definition.expect("a definition is JSON"));
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let usual = || {
            let schema = json!({ "type": "object" });
            json!({ "name": self.name, "description": "follows a script", "inputSchema": schema })
                .into()
        };
        CatalogEntry {
            key: self.name.clone(),
            definition: self.definition.clone().unwrap_or_else(usual),
        }
    }

    pub(super) async fn run(self, watch: Arc<Watch>, call: Call) -> Result<Reply> {
        let mut run = Run {
            steps: self.steps.into_iter(),
            end: Some(self.end),
            watched: Watched::new(watch),
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

/// A script on its way.
struct Run {
    steps: std::vec::IntoIter<Step>,
    end: Option<End>,
    watched: Watched,
    call: Call,
}

impl Run {
    async fn next(&mut self) -> Option<Result<Event>> {
        while let Some(step) = self.steps.as_slice().first() {
            match step {
                Step::Hold => self.watched.watch.hold().await,
                Step::Panic => panic!("the script says so, and these words are secret"),
                Step::Flood => {
                    // Never taken off, so it comes again and again; others get their turn.
                    tokio::task::yield_now().await;
                    return Some(Ok(wave()));
                }
                Step::Progress { done, of } => {
                    let event = progress(*done, *of);
                    self.steps.next();
                    return Some(Ok(event));
                }
                Step::Log(level) => {
                    let event = log(*level);
                    self.steps.next();
                    return Some(Ok(event));
                }
            }
            self.steps.next();
        }
        let end = self.end.take()?;
        self.watched.end();
        match end {
            End::Echo => Some(Ok(done(echo(&self.call)))),
            End::Result(result) => Some(Ok(done(result))),
            End::Fail(code) => Some(Err(failure(code))),
            End::Silence => None,
        }
    }
}

fn done(result: RawJson) -> Event {
    Event::Done(Outcome::complete(result))
}

fn progress(done: usize, of: usize) -> Event {
    Event::Progress(json!({ "progress": done, "total": of }).into())
}

fn wave() -> Event {
    Event::Progress(json!({ "progress": 1, "message": "~".repeat(WAVE) }).into())
}

fn log(level: LogLevel) -> Event {
    let params = json!({ "level": level.as_str(), "logger": "fake", "data": level.as_str() });
    Event::Log {
        level,
        params: params.into(),
    }
}

fn failure(code: Code) -> Error {
    Error::new(code, ErrorOrigin::Source, "the script says that it fails")
        .with_cause("these words are secret")
}

/// The arguments as text and as structure, and who asked.
fn echo(call: &Call) -> RawJson {
    let params = call.params.object().unwrap_or_default();
    let arguments = params.get("arguments").unwrap_or("{}");
    let text = RawJson::string(arguments);
    let who = RawJson::string(call.caller.principal.as_str());
    let text = format!(
        r#"{{"content":[{{"type":"text","text":{text}}},{{"type":"text","text":{who}}}],"structuredContent":{arguments}}}"#
    );
    RawJson::parse(text).expect("made of JSON")
}
