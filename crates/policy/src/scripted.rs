//! A scripted source behind one layer, for the tests of layers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use tidegate_core::{
    BoxFuture, Call, Caller, Catalog, ClientContext, Code, CorrelationId, Error, ErrorOrigin,
    Event, Layer, LayeredSource, Operation, Outcome, Principal, Question, QuestionKind, RawJson,
    Reply, Result, Scope, Source, SourceId, Viewer,
};

type Script = dyn Fn(u32) -> BoxFuture<'static, Result<Reply>> + Send + Sync;

/// A source that answers each call by its number, which starts at 1.
struct ScriptedSource {
    script: Box<Script>,
    calls: Arc<AtomicU32>,
    connects: Arc<AtomicU64>,
}

impl Source for ScriptedSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::default()
    }

    fn call(&self, _: Call) -> BoxFuture<'_, Result<Reply>> {
        let number = self.calls.fetch_add(1, Relaxed) + 1;
        (self.script)(number)
    }

    fn connects(&self) -> u64 {
        self.connects.load(Relaxed)
    }
}

/// A layer in front of a scripted source.
pub(crate) struct LayerUnderTest {
    source: LayeredSource,
    calls: Arc<AtomicU32>,
    connects: Arc<AtomicU64>,
}

impl LayerUnderTest {
    pub(crate) fn new(
        layer: impl Layer,
        script: impl Fn(u32) -> BoxFuture<'static, Result<Reply>> + Send + Sync + 'static,
    ) -> Self {
        let (calls, connects) = (Arc::<AtomicU32>::default(), Arc::<AtomicU64>::default());
        let source = ScriptedSource {
            script: Box::new(script),
            calls: Arc::clone(&calls),
            connects: Arc::clone(&connects),
        };
        Self {
            source: LayeredSource::new(Arc::new(source), vec![Arc::new(layer)]),
            calls,
            connects,
        }
    }

    pub(crate) fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        self.source.call(call)
    }

    /// How many calls have reached the source.
    pub(crate) fn source_calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }

    /// The source connects again.
    pub(crate) fn reconnect(&self) {
        self.connects.fetch_add(1, Relaxed);
    }

    pub(crate) fn health(&self) -> tidegate_core::Health {
        self.source.health()
    }
}

/// A tool call, which is not idempotent.
pub(crate) fn tool_call() -> Call {
    Call {
        correlation_id: CorrelationId::generate(),
        caller: Arc::new(Caller::local()),
        scope: Scope::All,
        label: "call",
        client: ClientContext::default(),
        source: SourceId::gateway(),
        operation: Operation::Tool {
            name: "tool".to_owned(),
        },
        idempotent: false,
        params: RawJson::empty_object(),
    }
}

pub(crate) fn tool_call_of(principal: &str) -> Call {
    let caller = Caller {
        principal: Principal::new(principal),
        admin: false,
    };
    Call {
        caller: Arc::new(caller),
        ..tool_call()
    }
}

pub(crate) fn ready(reply: Result<Reply>) -> BoxFuture<'static, Result<Reply>> {
    Box::pin(std::future::ready(reply))
}

pub(crate) fn done() -> Result<Reply> {
    Ok(Reply::Done(outcome()))
}

pub(crate) fn outcome() -> Outcome {
    Outcome::complete(RawJson::empty_object())
}

pub(crate) fn source_error(code: Code) -> Error {
    Error::new(code, ErrorOrigin::Source, "scripted failure")
}

pub(crate) fn progress() -> Result<Event> {
    Ok(Event::Progress(RawJson::empty_object()))
}

/// A question that is never answered.
pub(crate) fn question() -> Result<Event> {
    let (question, _) = Question::new(QuestionKind::Elicit, RawJson::empty_object());
    Ok(Event::Question(question))
}

/// A streamed reply: each event after its delay, in seconds.
pub(crate) fn events(script: Vec<(u64, Result<Event>)>) -> Result<Reply> {
    let events = stream::iter(script).then(|(seconds, event)| async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        event
    });
    Ok(Reply::Stream(events.boxed()))
}

/// Reads a reply to its end: the number of events before the outcome, and the error if it failed.
pub(crate) async fn drain(reply: Result<Reply>) -> (usize, Result<()>) {
    let mut events = match reply {
        Ok(Reply::Done(_)) => return (0, Ok(())),
        Ok(Reply::Stream(events)) => events,
        Err(error) => return (0, Err(error)),
    };
    let mut count = 0;
    loop {
        match events.next().await {
            Some(Ok(Event::Done(_))) => return (count, Ok(())),
            Some(Ok(_)) => count += 1,
            Some(Err(error)) => return (count, Err(error)),
            None => panic!("the stream ended without an outcome"),
        }
    }
}
