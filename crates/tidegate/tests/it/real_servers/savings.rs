//! What `search` saves of a model's context, measured with the real servers.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_sources::tokens;

use super::client::{Can, Era};
use super::world::World;
use crate::generated_docs;
use crate::support::messages::OWN_TOOLS;

/// What one looks for in a conversation.
const QUERIES: [&str; 3] = ["create a directory", "what time is it", "show the git log"];

/// The figures stand in the page on lists that show a part, as they are.
#[test]
fn what_searching_saves_is_as_the_page_says() {
    let world = World::shared();
    let mut client = world.through("/mcp", Era::Modern, Can::Nothing);
    let listed = client.request("tools/list", json!({})).answer;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let is_own = |tool: &&Value| OWN_TOOLS.iter().any(|own| tool["name"] == *own);
    let cost = |tool: &Value| tokens::count(&tool.to_string());
    let own: usize = tools.iter().filter(is_own).map(cost).sum();
    let others: usize = tools.iter().filter(|tool| !is_own(tool)).map(cost).sum();
    let mut text = String::new();
    let count = tools.len() - OWN_TOOLS.len();
    writeln!(text, "| what is listed | tools | tokens |\n|---|---|---|").unwrap();
    writeln!(
        text,
        "| all (`direct`, without the bridge tools) | {count} | {others} |"
    )
    .unwrap();
    writeln!(
        text,
        "| all and the bridge tools (`direct`) | {} | {} |",
        tools.len(),
        own + others
    )
    .unwrap();
    writeln!(
        text,
        "| the bridge tools alone (`search`) | {} | {own} |\n",
        OWN_TOOLS.len()
    )
    .unwrap();
    writeln!(
        text,
        "| a search for | tokens of its answer, up to 5 results |\n|---|---|"
    )
    .unwrap();
    for query in QUERIES {
        let arguments = json!({ "query": query, "kind": "tool", "limit": 5 });
        let call = json!({ "name": "gateway__search", "arguments": arguments });
        let found = client.request("tools/call", call).answer;
        let found = found["result"]["content"][0]["text"].as_str().unwrap();
        writeln!(text, "| {query} | {} |", tokens::count(found)).unwrap();
    }
    client.end();
    generated_docs::check(
        "docs/exposure.md",
        "what searching saves",
        "real_servers::savings",
        &text,
    );
}
