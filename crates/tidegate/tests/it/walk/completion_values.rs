//! Values for template variables and prompt arguments, from completion.

use serde_json::{Map, Value, json};

use super::client::Client;

/// A template with the first completion of each variable. Queries are left out.
pub(super) fn expanded(client: &mut dyn Client, template: &str) -> String {
    let reference = json!({ "type": "ref/resource", "uri": template });
    let (mut uri, mut rest) = (String::new(), template);
    let mut known = Map::new();
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}').unwrap();
        uri += before;
        rest = after;
        if expression.starts_with('?') {
            continue;
        }
        let name = expression.trim_start_matches('+');
        let value = completed(client, &reference, name, &known);
        uri += &match expression.starts_with('+') {
            true => value.replace(' ', "%20"),
            false => encoded(&value),
        };
        known.insert(name.to_owned(), value.into());
    }
    uri + rest
}

/// The required arguments of a prompt.
pub(super) fn arguments(client: &mut dyn Client, prompt: &Value) -> Value {
    let reference = json!({ "type": "ref/prompt", "name": prompt["name"] });
    let mut known = Map::new();
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        if argument["required"] == true {
            let name = argument["name"].as_str().unwrap();
            let value = completed(client, &reference, name, &known);
            known.insert(name.to_owned(), value.into());
        }
    }
    known.into()
}

/// The first completion; for free-text arguments, a word that occurs.
fn completed(
    client: &mut dyn Client,
    reference: &Value,
    name: &str,
    known: &Map<String, Value>,
) -> String {
    let ask = json!({
        "ref": reference,
        "argument": { "name": name, "value": "" },
        "context": { "arguments": known },
    });
    let offered = client.request("completion/complete", ask);
    match offered["completion"]["values"][0].as_str() {
        Some(first) => first.to_owned(),
        None if matches!(name, "query" | "topic") => "walk".to_owned(),
        None => panic!("no completion for {name} of {reference}"),
    }
}

fn encoded(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = value.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    encoded.collect()
}
