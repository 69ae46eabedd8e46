//! Values for template variables and prompt arguments, from completion, or fixed ones where there
//! is none.

use serde_json::{Map, Value, json};

use super::super::deployment::Deployment;
use crate::walk::client::Client;

/// Fixed values.
pub(super) struct CompletionValues {
    page: String,
}

impl CompletionValues {
    pub(super) fn at(deployment: &Deployment) -> Self {
        let page = deployment.pages.url("/tides.html");
        Self { page }
    }

    /// Expands a template.
    pub(super) fn expand(&self, client: &mut dyn Client, template: &str) -> String {
        let mut uri = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}').unwrap();
            uri += before;
            // Queries are optional.
            if !expression.starts_with('?') {
                let name = expression.trim_matches(['+', '/', '*']);
                let reference = json!({ "type": "ref/resource", "uri": template });
                uri += &self.value(client, &reference, name, &Map::new());
            }
            rest = after;
        }
        uri + rest
    }

    /// The required arguments of a prompt.
    pub(super) fn arguments(&self, client: &mut dyn Client, prompt: &Value) -> Value {
        let reference = json!({ "type": "ref/prompt", "name": prompt["name"] });
        let mut filled = Map::new();
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        for argument in arguments.filter(|argument| argument["required"] == true) {
            let name = argument["name"].as_str().unwrap();
            let value = self.value(client, &reference, name, &filled);
            filled.insert(name.to_owned(), value.into());
        }
        filled.into()
    }

    /// The first completion for empty input or a number.
    fn value(
        &self,
        client: &mut dyn Client,
        reference: &Value,
        name: &str,
        known: &Map<String, Value>,
    ) -> String {
        // Not every server supports completion, nor for every argument.
        match name {
            "url" => return self.page.clone(),
            "city" => return "Brest".to_owned(),
            _ => {}
        }
        for typed in ["", "1"] {
            let ask = json!({
                "ref": reference,
                "argument": { "name": name, "value": typed },
                "context": { "arguments": known },
            });
            let offered = client.request("completion/complete", ask);
            if let Some(first) = offered["completion"]["values"][0].as_str() {
                return first.to_owned();
            }
        }
        panic!("no completion for {name} of {reference}");
    }
}
