//! `tidegate search`: searches everything that a gateway offers.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;
use tidegate_core::{Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::arguments::named_params;
use super::connection::GatewayConnection;
use super::output::{CommandOutput, columns, printable};
use crate::cli::Exit;

/// The built-in search tool of a gateway.
const TOOL: &str = "gateway__search";

const MAX_RESULTS: usize = 20;

/// The members of a tool result that are printed.
#[derive(Deserialize)]
struct ToolResult {
    content: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: String,
}

#[derive(Deserialize)]
struct SearchResult {
    results: Vec<Match>,
}

#[derive(Deserialize)]
struct Match {
    kind: String,
    name: String,
    title: Option<String>,
    description: Option<String>,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    query: &str,
    json: bool,
) -> anyhow::Result<CommandOutput> {
    let operation = Operation::Tool {
        name: TOOL.to_owned(),
    };
    let arguments = RawJson::from(json!({ "query": query, "limit": MAX_RESULTS }));
    let result = connection
        .request(Method::ToolsCall, operation, named_params(TOOL, &arguments))
        .await
        .context(
            "the gateway cannot search; are its gateway tools on (`endpoint.gateway_tools`)?",
        )?;
    let ToolResult { content } = result
        .read()
        .context("the gateway sent an invalid tool result")?;
    let text = content
        .into_iter()
        .next()
        .context("the gateway sent an empty tool result")?
        .text;
    // A text that is not a search result is the error message of the tool.
    let SearchResult { results } =
        serde_json::from_str(&text).map_err(|_| anyhow::anyhow!(text.clone()))?;
    let mut output = match json {
        true => CommandOutput::json(&RawJson::parse(text)?),
        false => CommandOutput::data(columns(&results.iter().map(row).collect::<Vec<_>>())),
    };
    if results.is_empty() {
        output.exit = Exit::Failure;
        output.messages += &format!("tidegate: nothing matches `{}`\n", printable(query));
    }
    Ok(output)
}

fn row(found: &Match) -> [String; 3] {
    let summary = found.description.as_ref().or(found.title.as_ref());
    let summary = summary.map_or("", |text| text.trim().lines().next().unwrap_or_default());
    [
        printable(&found.kind),
        printable(&found.name),
        printable(summary),
    ]
}
