//! Fills in what templates and prompts leave open, as a user would: with what is offered as a
//! completion, or else with something that makes sense.

use serde_json::{Map, Value, json};

use super::super::world::World;
use crate::walk::client::Client;

/// What makes sense where nothing is offered.
pub(super) struct Filling {
    page: String,
}

impl Filling {
    pub(super) fn at(world: &World) -> Self {
        let page = world.pages.url("/tides.html");
        Self { page }
    }

    /// A URI that a template stands for.
    pub(super) fn expand(&self, client: &mut dyn Client, template: &str) -> String {
        let mut uri = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (expression, after) = after.split_once('}').unwrap();
            uri += before;
            // A query may be left out.
            if !expression.starts_with('?') {
                let name = expression.trim_matches(['+', '/', '*']);
                let reference = json!({ "type": "ref/resource", "uri": template });
                uri += &self.value(client, &reference, name, &Map::new());
            }
            rest = after;
        }
        uri + rest
    }

    /// What a prompt must be given.
    pub(super) fn arguments(&self, client: &mut dyn Client, prompt: &Value) -> Value {
        let reference = json!({ "type": "ref/prompt", "name": prompt["name"] });
        let mut filled = Map::new();
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        for argument in arguments.filter(|one| one["required"] == true) {
            let name = argument["name"].as_str().unwrap();
            let value = self.value(client, &reference, name, &filled);
            filled.insert(name.to_owned(), value.into());
        }
        filled.into()
    }

    /// The first value that is offered, to someone who has typed nothing or a number.
    fn value(
        &self,
        client: &mut dyn Client,
        reference: &Value,
        name: &str,
        known: &Map<String, Value>,
    ) -> String {
        // Not every server completes, and not every prompt of one that does.
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
        panic!("nothing is offered for {name} of {reference}");
    }
}
