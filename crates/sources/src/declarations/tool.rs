//! The declaration of a tool: a typed function whose schemas are derived from its types.

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tidegate_core::{
    BoxFuture, Call, CatalogEntry, Error, Outcome, QuestionKind, RawJson, Reply, Result,
};

use super::argument_schema::{ArgumentSchema, schema_of};
use super::{ToolCall, arguments_text, catalog_entry};

/// Why a tool returns no output.
#[derive(Debug)]
pub(crate) enum ToolError {
    /// An error that is returned as the tool's result, so that the model can react to it.
    Reported(String),
    /// The user must first answer an elicitation with these params.
    InputRequired { key: &'static str, params: RawJson },
    /// The call fails with this error.
    Internal(Error),
}

impl ToolError {
    pub(crate) fn reported(message: impl Into<String>) -> Self {
        Self::Reported(message.into())
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        Self::Internal(error)
    }
}

/// What a tool does to its environment. Clients decide by it whether to ask the user first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    ReadOnly,
    /// Deletes or overwrites data. Idempotent.
    Destructive,
    /// Depends on the tool that it calls.
    Unknown,
}

impl ToolEffect {
    fn annotations(self) -> Value {
        match self {
            Self::ReadOnly => json!({ "readOnlyHint": true, "openWorldHint": false }),
            Self::Unknown => json!({ "readOnlyHint": false, "destructiveHint": true }),
            Self::Destructive => json!({
                "readOnlyHint": false,
                "destructiveHint": true,
                "idempotentHint": true,
                "openWorldHint": false,
            }),
        }
    }
}

/// The descriptive fields of a tool.
#[derive(Clone, Copy)]
pub(crate) struct ToolInfo {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: ToolEffect,
}

/// A tool of a source with the state `S`.
pub(crate) struct DeclaredTool<S: 'static> {
    pub(crate) info: ToolInfo,
    input: ArgumentSchema,
    output: Option<Schema>,
    run: RunTool<S>,
}

/// A tool's function from arguments `A` to output `O`.
pub(crate) type ToolFn<S, A, O> =
    for<'a> fn(&'a S, ToolCall<'a>, A) -> BoxFuture<'a, Result<O, ToolError>>;

type RunTool<S> = Box<
    dyn for<'a> Fn(&'a S, ToolCall<'a>, String) -> BoxFuture<'a, Result<Reply, ToolError>>
        + Send
        + Sync,
>;

impl<S: Send + Sync> DeclaredTool<S> {
    /// A tool with structured output and an output schema.
    pub(crate) fn new<A, O>(info: ToolInfo, run: ToolFn<S, A, O>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let run: RunTool<S> = Box::new(move |state, tool_call, arguments| {
            Box::pin(async move {
                let output = run(state, tool_call, parse(&arguments)?).await?;
                let result = structured_result(&serialize(&output)?)?;
                Ok(Reply::Done(Outcome::complete(result)))
            })
        });
        Self {
            info,
            input: ArgumentSchema::of::<A>(),
            output: Some(schema_of::<O>()),
            run,
        }
    }

    /// A tool with JSON text as output and without an output schema, which saves tokens in lists.
    pub(crate) fn with_text_output<A, O>(info: ToolInfo, run: ToolFn<S, A, O>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + 'static,
    {
        let run: RunTool<S> = Box::new(move |state, tool_call, arguments| {
            Box::pin(async move {
                let output = run(state, tool_call, parse(&arguments)?).await?;
                let text = serialize(&output)?;
                let result = json!({ "content": [{ "type": "text", "text": text }] });
                Ok(Reply::Done(Outcome::complete(result.into())))
            })
        });
        Self {
            info,
            input: ArgumentSchema::of::<A>(),
            output: None,
            run,
        }
    }

    /// A tool that produces the whole reply, for instance by relaying another call.
    pub(crate) fn with_reply<A>(info: ToolInfo, run: ToolFn<S, A, Reply>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let run: RunTool<S> = Box::new(move |state, tool_call, arguments| {
            Box::pin(async move { run(state, tool_call, parse(&arguments)?).await })
        });
        Self {
            info,
            input: ArgumentSchema::of::<A>(),
            output: None,
            run,
        }
    }

    pub(super) fn entry(&self) -> CatalogEntry {
        let mut definition = json!({
            "name": self.info.name,
            "title": self.info.title,
            "description": self.info.description,
            "inputSchema": self.input.schema(),
            "annotations": self.info.effect.annotations(),
        });
        if let Some(output) = &self.output {
            definition["outputSchema"] = output.as_value().clone();
        }
        catalog_entry(self.info.name, definition)
    }

    /// Invalid arguments are a tool result too, so that the model can correct them.
    pub(super) async fn call(&self, state: &S, call: &Call) -> Result<Reply> {
        let arguments = match self.input.validate(&arguments_text(call)) {
            Ok(arguments) => arguments,
            Err(message) => return Ok(Reply::Done(Outcome::complete(error_result(&message)))),
        };
        let outcome = match (self.run)(state, ToolCall::new(call), arguments).await {
            Ok(reply) => return Ok(reply),
            Err(ToolError::Reported(message)) => Outcome::complete(error_result(&message)),
            Err(ToolError::InputRequired { key, params }) => Outcome::Question {
                key,
                kind: QuestionKind::Elicit,
                params,
            },
            Err(ToolError::Internal(error)) => return Err(error),
        };
        Ok(Reply::Done(outcome))
    }
}

fn parse<A: DeserializeOwned>(arguments: &str) -> Result<A, ToolError> {
    serde_json::from_str(arguments)
        .map_err(|error| ToolError::reported(format!("invalid arguments: {error}")))
}

fn serialize<O: Serialize>(output: &O) -> Result<String, ToolError> {
    serde_json::to_string(output).map_err(|error| ToolError::reported(error.to_string()))
}

/// The output as structured content and as text. It is not parsed again, so numbers keep their
/// digits.
fn structured_result(output: &str) -> Result<RawJson> {
    let text = RawJson::string(output);
    let result = format!(
        r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{output},"isError":false}}"#
    );
    RawJson::parse(result).map_err(|cause| {
        Error::internal("the tool's result could not be serialized").with_cause(cause)
    })
}

/// A tool result with `isError`.
pub(crate) fn error_result(message: &str) -> RawJson {
    let content = json!([{ "type": "text", "text": message }]);
    json!({ "content": content, "isError": true }).into()
}
