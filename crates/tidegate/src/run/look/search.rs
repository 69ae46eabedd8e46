//! `tidegate search`: what fits some words, of everything behind a gateway.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;
use tidegate_core::{Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::{Answer, columns, plain};
use super::call::params;
use super::place::Place;
use crate::cli::Exit;

/// The gateway's own tool that searches.
const TOOL: &str = "gateway__search";

const MOST: usize = 20;

/// The result of the tool, as far as it is printed.
#[derive(Deserialize)]
struct Called {
    content: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: String,
}

#[derive(Deserialize)]
struct Found {
    results: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    kind: String,
    name: String,
    title: Option<String>,
    description: Option<String>,
}

pub(super) async fn answer(place: &Place, words: &str, json: bool) -> anyhow::Result<Answer> {
    let operation = Operation::Tool {
        name: TOOL.to_owned(),
    };
    let arguments = RawJson::from(json!({ "query": words, "limit": MOST }));
    let called = place
        .ask(Method::ToolsCall, operation, params(TOOL, &arguments))
        .await
        .context(
            "the gateway cannot search; it may have no bridge tools (`endpoint.bridge_tools`)",
        )?;
    let Called { content } = called.read().context("the gateway's answer is no result")?;
    let text = content
        .into_iter()
        .next()
        .context("the gateway said nothing")?
        .text;
    let found: Found = serde_json::from_str(&text).map_err(|_| anyhow::anyhow!(text.clone()))?;
    let mut answer = match json {
        true => Answer::json(&RawJson::parse(text)?),
        false => Answer::of(columns(&found.results.iter().map(row).collect::<Vec<_>>())),
    };
    if found.results.is_empty() {
        answer.exit = Exit::Failed;
        answer.words += &format!("tidegate: nothing fits `{}`\n", plain(words));
    }
    Ok(answer)
}

fn row(hit: &Hit) -> [String; 3] {
    let about = hit.description.as_ref().or(hit.title.as_ref());
    let about = about.map_or("", |text| text.trim().lines().next().unwrap_or_default());
    [plain(&hit.kind), plain(&hit.name), plain(about)]
}
