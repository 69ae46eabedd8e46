//! The declaration of a prompt.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidegate_core::{BoxFuture, Call, Caller, CatalogEntry, Code, Error, Outcome, Result};

use super::{Completer, arguments_text, catalog_entry};

/// A prompt of a source with the state `S`.
pub(crate) struct DeclaredPrompt<S: 'static> {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) arguments: Vec<PromptArgument<S>>,
    pub(crate) get: for<'a> fn(&'a S, PromptCall<'a>) -> BoxFuture<'a, Result<Vec<PromptMessage>>>,
}

pub(crate) struct PromptArgument<S: 'static> {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    pub(crate) completer: Option<Completer<S>>,
}

/// The caller and the arguments of a `prompts/get`.
pub(crate) struct PromptCall<'a> {
    pub(crate) caller: &'a Caller,
    arguments: BTreeMap<String, String>,
}

impl PromptCall<'_> {
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }
}

pub(crate) struct PromptMessage(Value);

impl PromptMessage {
    /// A text with the role `user`.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::from_user(&json!({ "type": "text", "text": text.into() }))
    }

    /// Any content with the role `user`.
    pub(crate) fn from_user(content: &Value) -> Self {
        Self(json!({ "role": "user", "content": content }))
    }
}

impl<S> DeclaredPrompt<S> {
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
        catalog_entry(self.name, definition)
    }

    pub(super) async fn get(&self, state: &S, call: &Call) -> Result<Outcome> {
        let invalid = |message: String| Error::client(Code::InvalidParams, message);
        let arguments: BTreeMap<_, _> = serde_json::from_str(&arguments_text(call))
            .map_err(|_| invalid("`arguments` must be an object of strings".to_owned()))?;
        let mut required = self.arguments.iter().filter(|argument| argument.required);
        if let Some(missing) = required.find(|argument| !arguments.contains_key(argument.name)) {
            let name = missing.name;
            return Err(invalid(format!("the argument `{name}` is missing")));
        }
        let prompt_call = PromptCall {
            caller: &call.caller,
            arguments,
        };
        let messages = (self.get)(state, prompt_call).await?;
        let messages: Value = messages.into_iter().map(|message| message.0).collect();
        let result = json!({ "description": self.description, "messages": messages });
        Ok(Outcome::complete(result.into()))
    }

    /// The completer of an argument, if it has one.
    pub(super) fn completer(&self, argument: &str) -> Result<Option<Completer<S>>> {
        let mut arguments = self.arguments.iter();
        let declared = arguments.find(|declared| declared.name == argument);
        declared.map(|declared| declared.completer).ok_or_else(|| {
            let message = "this prompt has no such argument";
            Error::client(Code::InvalidParams, message)
        })
    }
}
