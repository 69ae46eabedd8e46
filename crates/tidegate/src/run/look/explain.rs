//! `tidegate explain`: which source answers for a URI, by which rule, and which others would.

use anyhow::Context as _;
use serde::Deserialize;
use tidegate_core::{Code, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::{Answer, plain};
use super::place::Place;
use crate::cli::Exit;

/// The resource of a gateway that explains a URI.
const EXPLAIN: &str = "gateway://gateway/explain/";

#[derive(Deserialize)]
struct Contents {
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
    shadowed: Vec<Other>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Other {
    source: String,
    because: String,
    reached_as: Option<String>,
}

pub(super) async fn answer(place: &Place, uri: &str, json: bool) -> anyhow::Result<Answer> {
    let asked = format!("{EXPLAIN}{uri}");
    let params = serde_json::json!({ "uri": asked });
    let operation = Operation::Resource { uri: asked };
    let result = place
        .ask(Method::ResourcesRead, operation, params.into())
        .await;
    let result = result.map_err(|error| match (error.code(), place.url()) {
        (Code::ResourceNotFound, Some(url)) => {
            anyhow::anyhow!("{url} does not explain URIs; ask the endpoint of all sources, `/mcp`")
        }
        _ => error.into(),
    })?;
    let contents: Contents = result.read().context("the gateway does not explain URIs")?;
    let text = contents.contents.into_iter().map(|one| one.text);
    let text = text.collect::<String>();
    let explanation: Explanation =
        serde_json::from_str(&text).context("the gateway does not explain URIs")?;
    let mut answer = match json {
        true => Answer::json(&RawJson::parse(text).context("the explanation is no JSON")?),
        false => Answer::of(explanation.in_words(uri)),
    };
    if !explanation.found {
        answer.exit = Exit::Failed;
    }
    Ok(answer)
}

impl Explanation {
    fn in_words(&self, uri: &str) -> String {
        let uri = plain(uri);
        let because = plain(&self.because);
        let mut text = match &self.source {
            Some(source) => format!("{uri}\n  leads to {}: {because}\n", plain(source)),
            None => format!("{uri}\n  leads nowhere: {because}\n"),
        };
        if let Some(there) = self.uri_there.as_ref().filter(|there| **there != uri) {
            text += &format!("  and is called {} there\n", plain(there));
        }
        for other in &self.shadowed {
            let reached = match &other.reached_as {
                Some(uri) => format!("; read it as {}", plain(uri)),
                None => "; it cannot be read there".to_owned(),
            };
            let (source, because) = (plain(&other.source), plain(&other.because));
            text += &format!("  not to {source}, though {source} {because}{reached}\n");
        }
        text
    }
}
