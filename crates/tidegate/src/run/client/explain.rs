//! `tidegate explain`: shows which source serves a URI, by which rule, and which sources it shadows.

use anyhow::Context as _;
use serde::Deserialize;
use tidegate_core::{Code, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::connection::GatewayConnection;
use super::output::{CommandOutput, printable};
use crate::cli::Exit;

/// The resource of a gateway that explains the URI after it.
const EXPLAIN: &str = "gateway://gateway/explain/";

const INVALID: &str = "the gateway sent an invalid explanation";

#[derive(Deserialize)]
struct ReadResult {
    contents: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Explanation {
    found: bool,
    source: Option<String>,
    uri_there: Option<String>,
    because: String,
    shadowed: Vec<ShadowedSource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShadowedSource {
    source: String,
    because: String,
    reached_as: Option<String>,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    uri: &str,
    json: bool,
) -> anyhow::Result<CommandOutput> {
    let resource = format!("{EXPLAIN}{uri}");
    let params = serde_json::json!({ "uri": resource });
    let operation = Operation::Resource { uri: resource };
    let result = connection
        .request(Method::ResourcesRead, operation, params.into())
        .await;
    let result = result.map_err(|error| match (error.code(), connection.url()) {
        (Code::ResourceNotFound, Some(url)) => {
            anyhow::anyhow!("{url} cannot explain URIs; use the endpoint of all sources, `/mcp`")
        }
        _ => error.into(),
    })?;
    let ReadResult { contents } = result.read().context(INVALID)?;
    let text: String = contents.into_iter().map(|content| content.text).collect();
    let explanation: Explanation = serde_json::from_str(&text).context(INVALID)?;
    let mut output = match json {
        true => CommandOutput::json(&RawJson::parse(text).context(INVALID)?),
        false => CommandOutput::data(explanation.to_text(uri)),
    };
    if !explanation.found {
        output.exit = Exit::Failure;
    }
    Ok(output)
}

impl Explanation {
    fn to_text(&self, uri: &str) -> String {
        let uri = printable(uri);
        let because = printable(&self.because);
        let mut text = match &self.source {
            Some(source) => format!("{uri}\n  served by {}: {because}\n", printable(source)),
            None => format!("{uri}\n  not found: {because}\n"),
        };
        if let Some(native) = self.uri_there.as_ref().filter(|native| **native != uri) {
            text += &format!("  URI at the source: {}\n", printable(native));
        }
        for other in &self.shadowed {
            let reached = match &other.reached_as {
                Some(uri) => format!("; read it as {}", printable(uri)),
                None => "; it cannot be read there".to_owned(),
            };
            let (source, because) = (printable(&other.source), printable(&other.because));
            text += &format!("  shadowed: {source} {because}{reached}\n");
        }
        text
    }
}
