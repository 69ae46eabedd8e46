//! The declaration of one prompt.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidegate_core::{BoxFuture, Call, Caller, CatalogEntry, Code, Error, Outcome, Result};

use super::{Completer, arguments, entry};

/// A prompt over the state `S`.
pub(crate) struct Prompt<S: 'static> {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: Vec<Argument<S>>,
    pub(crate) get: for<'a> fn(&'a S, Given<'a>) -> BoxFuture<'a, Result<Vec<Message>>>,
}

/// An argument of a prompt.
pub(crate) struct Argument<S: 'static> {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    pub(crate) complete: Option<Completer<S>>,
}

/// The arguments that were given, and by whom.
pub(crate) struct Given<'a> {
    pub(crate) caller: &'a Caller,
    values: BTreeMap<String, String>,
}

impl Given<'_> {
    pub(crate) fn get(&self, argument: &str) -> Option<&str> {
        self.values.get(argument).map(String::as_str)
    }
}

/// One message of a prompt.
pub(crate) struct Message(Value);

impl Message {
    /// What the user says.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::of_user(&json!({ "type": "text", "text": text.into() }))
    }

    /// Any content, as the user's.
    pub(crate) fn of_user(content: &Value) -> Self {
        Self(json!({ "role": "user", "content": content }))
    }
}

impl<S> Prompt<S> {
    pub(super) fn entry(&self) -> CatalogEntry {
        let arguments = self.arguments.iter().map(|argument| {
            json!({
                "name": argument.name,
                "description": argument.description,
                "required": argument.required,
            })
        });
        let definition = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments.collect::<Value>(),
        });
        entry(self.name, definition)
    }

    pub(super) async fn get(&self, state: &S, call: &Call) -> Result<Outcome> {
        let wrong = |message: String| Error::client(Code::InvalidParams, message);
        let values: BTreeMap<_, _> = serde_json::from_str(&arguments(call))
            .map_err(|_| wrong("the arguments of a prompt are strings by name".to_owned()))?;
        let mut required = self.arguments.iter().filter(|one| one.required);
        if let Some(missing) = required.find(|one| !values.contains_key(one.name)) {
            let name = missing.name;
            return Err(wrong(format!("the argument `{name}` is missing")));
        }
        let caller = &call.caller;
        let messages = (self.get)(state, Given { caller, values }).await?;
        let messages: Value = messages.into_iter().map(|message| message.0).collect();
        let result = json!({ "description": self.description, "messages": messages });
        Ok(Outcome::complete(result.into()))
    }

    /// What completes an argument, if anything does.
    pub(super) fn completer(&self, argument: &str) -> Result<Option<Completer<S>>> {
        let argument = self.arguments.iter().find(|one| one.name == argument);
        argument.map(|one| one.complete).ok_or_else(|| {
            let message = "this prompt has no such argument";
            Error::client(Code::InvalidParams, message)
        })
    }
}
