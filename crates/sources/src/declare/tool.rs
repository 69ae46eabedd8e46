//! The declaration of one tool: a typed function, its schemas taken from its types.

use std::fmt;

use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tidegate_core::{BoxFuture, Call, Entry, Error, RawJson, Result};

use super::entry;

/// Why a tool could not do it, in words for the model that called it.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool over the state `S`.
pub(crate) struct Tool<S: 'static> {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    input: Schema,
    output: Schema,
    run: Run<S>,
}

type Run<S> = Box<
    dyn for<'a> Fn(&'a S, RawJson) -> BoxFuture<'a, Result<serde_json::Value, Fault>> + Send + Sync,
>;

impl<S: Send + Sync> Tool<S> {
    /// Declares a tool that changes nothing.
    pub(crate) fn read_only<A, O>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        run: for<'a> fn(&'a S, A) -> BoxFuture<'a, Result<O, Fault>>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
    {
        let run: Run<S> = Box::new(move |state, arguments| {
            Box::pin(async move {
                let arguments = arguments
                    .read::<A>()
                    .map_err(|error| Fault(format!("the arguments are wrong: {error}")))?;
                let output = run(state, arguments).await?;
                serde_json::to_value(output).map_err(|error| Fault(error.to_string()))
            })
        });
        Self {
            name,
            title,
            description,
            input: schema::<A>(),
            output: schema::<O>(),
            run,
        }
    }

    pub(super) fn entry(&self) -> Entry {
        let definition = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input,
            "outputSchema": self.output,
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        });
        entry(self.name, definition)
    }

    /// Calls the tool. A fault is a result: the model should see it.
    pub(super) async fn call(&self, state: &S, call: &Call) -> Result<RawJson> {
        let arguments = arguments(call)?;
        let result = match (self.run)(state, arguments).await {
            Ok(output) => json!({
                "content": [{ "type": "text", "text": output.to_string() }],
                "structuredContent": output,
                "isError": false,
            }),
            Err(fault) => json!({
                "content": [{ "type": "text", "text": fault.to_string() }],
                "isError": true,
            }),
        };
        Ok(result.into())
    }
}

/// The arguments of a call; none are an empty object.
fn arguments(call: &Call) -> Result<RawJson> {
    let params = call.params.object();
    let arguments = params
        .as_ref()
        .and_then(|params| params.get("arguments"))
        .unwrap_or("{}");
    RawJson::parse(arguments.to_owned())
        .map_err(|cause| Error::internal("the arguments could not be read").caused_by(cause))
}

/// A type's schema, complete in itself.
fn schema<T: JsonSchema>() -> Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    schema.remove("title");
    RecursiveTransform(drop_format).transform(&mut schema);
    schema
}

/// The formats taken from Rust's number types are not JSON Schema's, and clients warn of each.
fn drop_format(schema: &mut Schema) {
    schema.remove("format");
}
