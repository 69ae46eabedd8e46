//! The declaration of one tool: a typed function, its schemas taken from its types.

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tidegate_core::{
    BoxFuture, Call, CatalogEntry, Error, Outcome, QuestionKind, RawJson, Reply, Result,
};

use super::input::{Input, schema};
use super::{Asking, arguments, entry};

/// Why a tool has no output.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It could not do it, in words for the model that called it.
    Fault(String),
    /// The user must answer this first, under this key.
    Operation(&'static str, RawJson),
    /// Something broke.
    Error(Error),
}

impl Stop {
    pub(crate) fn fault(message: impl Into<String>) -> Self {
        Self::Fault(message.into())
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What a tool does to the world, for those who decide whether it may run unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    /// Changes nothing.
    Reads,
    /// Takes something away for good, or puts something in its place. Twice is no more than once.
    Destroys,
    /// Whatever another does.
    Acts,
}

impl Hint {
    fn annotations(self) -> Value {
        match self {
            Self::Reads => json!({ "readOnlyHint": true, "openWorldHint": false }),
            Self::Acts => json!({ "readOnlyHint": false, "destructiveHint": true }),
            Self::Destroys => json!({
                "readOnlyHint": false,
                "destructiveHint": true,
                "idempotentHint": true,
                "openWorldHint": false,
            }),
        }
    }
}

/// A tool over the state `S`.
pub(crate) struct Tool<S: 'static> {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    hint: Hint,
    input: Input,
    output: Option<Schema>,
    run: Run<S>,
}

type Run<S> = Box<
    dyn for<'a> Fn(&'a S, Asking<'a>, String) -> BoxFuture<'a, Result<Reply, Stop>> + Send + Sync,
>;

impl<S: Send + Sync> Tool<S> {
    pub(crate) fn new<A, O>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        hint: Hint,
        run: for<'a> fn(&'a S, Asking<'a>, A) -> BoxFuture<'a, Result<O, Stop>>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let run: Run<S> = Box::new(move |state, asking, arguments| {
            Box::pin(async move {
                let output = run(state, asking, read(&arguments)?).await?;
                let output = serde_json::to_string(&output)
                    .map_err(|error| Stop::fault(error.to_string()))?;
                Ok(Reply::Done(Outcome::complete(result(&output)?)))
            })
        });
        let about = (name, title, description);
        Self::declared(about, hint, Input::of::<A>(), Some(schema::<O>()), run)
    }

    /// Says nothing of what comes out beforehand, and gives it as text alone: what is listed
    /// everywhere should cost little.
    #[must_use]
    pub(crate) fn briefly<A, O>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        hint: Hint,
        run: for<'a> fn(&'a S, Asking<'a>, A) -> BoxFuture<'a, Result<O, Stop>>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + 'static,
    {
        let run: Run<S> = Box::new(move |state, asking, arguments| {
            Box::pin(async move {
                let output = run(state, asking, read(&arguments)?).await?;
                let text = serde_json::to_string(&output)
                    .map_err(|error| Stop::fault(error.to_string()))?;
                let result = json!({ "content": [{ "type": "text", "text": text }] });
                Ok(Reply::Done(Outcome::complete(result.into())))
            })
        });
        let about = (name, title, description);
        Self::declared(about, hint, Input::of::<A>(), None, run)
    }

    /// Declares a tool that makes its own reply, such as one that hands on another's.
    pub(crate) fn relaying<A>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        hint: Hint,
        run: for<'a> fn(&'a S, Asking<'a>, A) -> BoxFuture<'a, Result<Reply, Stop>>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let run: Run<S> = Box::new(move |state, asking, arguments| {
            Box::pin(async move { run(state, asking, read(&arguments)?).await })
        });
        let about = (name, title, description);
        Self::declared(about, hint, Input::of::<A>(), None, run)
    }

    fn declared(
        (name, title, description): (&'static str, &'static str, &'static str),
        hint: Hint,
        input: Input,
        output: Option<Schema>,
        run: Run<S>,
    ) -> Self {
        Self {
            name,
            title,
            description,
            hint,
            input,
            output,
            run,
        }
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let mut definition = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input.schema(),
            "annotations": self.hint.annotations(),
        });
        if let Some(output) = &self.output {
            definition["outputSchema"] = output.as_value().clone();
        }
        entry(self.name, definition)
    }

    /// Calls the tool. A fault is a result: the model should see it.
    pub(super) async fn call(&self, state: &S, call: &Call) -> Result<Reply> {
        let arguments = match self.input.checked(&arguments(call)) {
            Ok(arguments) => arguments,
            Err(message) => return Ok(Reply::Done(Outcome::complete(fault(&message)))),
        };
        let outcome = match (self.run)(state, Asking::new(call), arguments).await {
            Ok(reply) => return Ok(reply),
            Err(Stop::Fault(message)) => Outcome::complete(fault(&message)),
            Err(Stop::Operation(key, params)) => Outcome::Question {
                key,
                kind: QuestionKind::Elicit,
                params,
            },
            Err(Stop::Error(error)) => return Err(error),
        };
        Ok(Reply::Done(outcome))
    }
}

fn read<A: DeserializeOwned>(arguments: &str) -> Result<A, Stop> {
    serde_json::from_str(arguments)
        .map_err(|error| Stop::fault(format!("the arguments are wrong: {error}")))
}

/// The output as structure and as text, neither read again: numbers keep their digits.
fn result(output: &str) -> Result<RawJson> {
    let text = RawJson::string(output);
    let result = format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{output},"isError":false}}"#
    );
    RawJson::parse(result)
        .map_err(|cause| Error::internal("the result could not be written").with_cause(cause))
}

pub(crate) fn fault(message: &str) -> RawJson {
    let content = json!([{ "type": "text", "text": message }]);
    json!({ "content": content, "isError": true }).into()
}
