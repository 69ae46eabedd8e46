//! How many tokens `search` saves, measured with the real servers.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_sources::tokens;

use super::client::{ClientCapabilities, Era};
use super::deployment::Deployment;
use crate::generated_docs;
use crate::support::messages::GATEWAY_TOOLS;

/// Typical searches.
const QUERIES: [&str; 3] = ["create a directory", "what time is it", "show the git log"];

/// The numbers in the documentation are up to date.
#[test]
fn documented_savings_are_current() {
    let deployment = Deployment::shared();
    let mut client = deployment.through("/mcp", Era::Modern, ClientCapabilities::None);
    let listed = client.request("tools/list", json!({})).answer;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let is_own = |tool: &&Value| GATEWAY_TOOLS.iter().any(|own| tool["name"] == *own);
    // Models do not get `_meta`.
    let cost = |tool: &Value| {
        let mut tool = tool.clone();
        tool.as_object_mut().unwrap().remove("_meta");
        tokens::count(&tool.to_string())
    };
    let own: usize = tools.iter().filter(is_own).map(cost).sum();
    let others: usize = tools.iter().filter(|tool| !is_own(tool)).map(cost).sum();
    let mut text = String::new();
    let count = tools.len() - GATEWAY_TOOLS.len();
    writeln!(text, "| what is listed | tools | tokens |\n|---|---|---|").unwrap();
    writeln!(
        text,
        "| all (`direct`, without the gateway tools) | {count} | {others} |"
    )
    .unwrap();
    writeln!(
        text,
        "| all and the gateway tools (`direct`) | {} | {} |",
        tools.len(),
        own + others
    )
    .unwrap();
    writeln!(
        text,
        "| the gateway tools alone (`search`) | {} | {own} |\n",
        GATEWAY_TOOLS.len()
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
