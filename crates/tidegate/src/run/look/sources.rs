//! `tidegate sources`: from the gateway's own report, which is the same wherever it runs.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tidegate_core::{List, Operation};
use tidegate_mcp::revision::Method;

use super::answer::{Answer, columns, plain};
use super::lists::entries;
use super::place::Place;

/// Where a gateway reports on itself.
const HEALTH: &str = "resource://system/health";

/// The report, as far as it is used.
#[derive(Deserialize)]
struct ComponentHealth {
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Component {
    name: String,
    status: String,
    message: String,
    metrics: serde_json::Value,
}

#[derive(Deserialize)]
struct Contents {
    contents: [Content; 1],
}

#[derive(Deserialize)]
struct Content {
    text: String,
}

/// A source as it is printed.
#[derive(Serialize)]
struct Line {
    name: String,
    status: String,
    message: String,
    #[serde(flatten)]
    counts: Counts,
}

/// How much there is of each kind. Of all components only sources have these.
#[derive(Deserialize, Serialize)]
struct Counts {
    tools: u64,
    prompts: u64,
    resources: u64,
    templates: u64,
}

pub(super) async fn answer(place: &Place, json: bool) -> anyhow::Result<Answer> {
    let lines = lines(place).await?;
    Ok(match json {
        true => Answer::of(format!("{:#}\n", serde_json::json!({ "sources": lines }))),
        false => Answer::of(as_text(&lines)),
    })
}

async fn lines(place: &Place) -> anyhow::Result<Vec<Line>> {
    match (report(place).await, place.url()) {
        (Ok(report), _) => Ok(report.components.into_iter().filter_map(line).collect()),
        // A server that is no gateway, or one source of a gateway, is one source.
        (Err(_), Some(url)) => Ok(vec![only(place, url).await?]),
        (Err(error), None) => Err(error),
    }
}

async fn report(place: &Place) -> anyhow::Result<ComponentHealth> {
    let uri = HEALTH.to_owned();
    let params = serde_json::json!({ "uri": uri });
    let operation = Operation::Resource { uri };
    let result = place
        .ask(Method::ResourcesRead, operation, params.into())
        .await?;
    let unreadable = "the gateway's report on its sources cannot be read";
    let Contents {
        contents: [content],
    } = result.read().context(unreadable)?;
    serde_json::from_str(&content.text).context(unreadable)
}

fn line(component: Component) -> Option<Line> {
    let counts = serde_json::from_value(component.metrics).ok()?;
    Some(Line {
        name: component.name,
        status: component.status.to_lowercase(),
        message: component.message,
        counts,
    })
}

/// A server as a whole.
async fn only(place: &Place, url: &http::Uri) -> anyhow::Result<Line> {
    let mut counts = [0; 4];
    for (count, list) in std::iter::zip(&mut counts, List::ALL) {
        *count = u64::try_from(entries(place, list).await?.len())?;
    }
    let [tools, prompts, resources, templates] = counts;
    Ok(Line {
        name: url.to_string(),
        status: "healthy".to_owned(),
        message: "answers".to_owned(),
        counts: Counts {
            tools,
            prompts,
            resources,
            templates,
        },
    })
}

fn as_text(lines: &[Line]) -> String {
    let heading = [
        "source",
        "status",
        "tools",
        "prompts",
        "resources",
        "templates",
        "message",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    rows.extend(lines.iter().map(|line| {
        let counts = &line.counts;
        [
            plain(&line.name),
            plain(&line.status),
            counts.tools.to_string(),
            counts.prompts.to_string(),
            counts.resources.to_string(),
            counts.templates.to_string(),
            plain(&line.message),
        ]
    }));
    columns(&rows)
}
