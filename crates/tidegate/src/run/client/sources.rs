//! `tidegate sources`: lists the sources, from the health resource of the gateway.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tidegate_core::{List, Operation};
use tidegate_mcp::revision::Method;

use super::connection::GatewayConnection;
use super::lists::entries;
use super::output::{CommandOutput, Style, printable, styled_columns};

/// The health resource of a gateway.
const HEALTH: &str = "resource://system/health";

/// The members of the health resource that are used.
#[derive(Deserialize)]
struct HealthReport {
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Component {
    name: String,
    status: String,
    message: String,
    metrics: serde_json::Value,
    /// The processes or sessions of each principal; only for administrators.
    connections: Option<BTreeMap<String, u64>>,
}

#[derive(Deserialize)]
struct ReadResult {
    contents: [Content; 1],
}

#[derive(Deserialize)]
struct Content {
    text: String,
}

/// A source as it is printed.
#[derive(Serialize)]
struct SourceRow {
    name: String,
    status: String,
    message: String,
    #[serde(flatten)]
    counts: ListCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<Connections>,
}

/// The open processes or sessions of a server.
#[derive(Serialize)]
struct Connections {
    total: u64,
    /// How many are those of each principal. The others are the gateway's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    principals: Option<BTreeMap<String, u64>>,
}

/// `3 (ada 2, gateway 1)`; without the principals, the number.
impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total)?;
        let Some(principals) = self.principals.as_ref().filter(|_| self.total > 0) else {
            return Ok(());
        };
        let of_principals: u64 = principals.values().sum();
        let own = self.total.saturating_sub(of_principals);
        let own = (own > 0).then(|| format!("gateway {own}"));
        let of_principals = principals.iter();
        let of_principals = of_principals.map(|(principal, count)| format!("{principal} {count}"));
        let counts: Vec<_> = of_principals.chain(own).collect();
        write!(f, " ({})", counts.join(", "))
    }
}

/// The lengths of the lists. Among all components, only sources have these metrics.
#[derive(Deserialize, Serialize)]
struct ListCounts {
    tools: u64,
    prompts: u64,
    resources: u64,
    templates: u64,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    json: bool,
    style: Style,
) -> anyhow::Result<CommandOutput> {
    let rows = rows(connection).await?;
    Ok(match json {
        true => CommandOutput::data(format!("{:#}\n", serde_json::json!({ "sources": rows }))),
        false => CommandOutput::data(to_text(&rows, style)),
    })
}

async fn rows(connection: &GatewayConnection) -> anyhow::Result<Vec<SourceRow>> {
    match (health_report(connection).await, connection.url()) {
        (Ok(report), _) => Ok(report
            .components
            .into_iter()
            .filter_map(source_row)
            .collect()),
        // Not a gateway, or the endpoint of one source: it is the only source.
        (Err(_), Some(url)) => Ok(vec![server_row(connection, url).await?]),
        (Err(error), None) => Err(error),
    }
}

async fn health_report(connection: &GatewayConnection) -> anyhow::Result<HealthReport> {
    const INVALID: &str = "the gateway sent an invalid health report";
    let uri = HEALTH.to_owned();
    let params = serde_json::json!({ "uri": uri });
    let operation = Operation::Resource { uri };
    let result = connection
        .request(Method::ResourcesRead, operation, params.into())
        .await?;
    let ReadResult {
        contents: [content],
    } = result.read().context(INVALID)?;
    serde_json::from_str(&content.text).context(INVALID)
}

/// The row of a component, if it is a source.
fn source_row(component: Component) -> Option<SourceRow> {
    let total = component.metrics["connections"].as_u64();
    let counts = serde_json::from_value(component.metrics).ok()?;
    Some(SourceRow {
        connections: total.map(|total| Connections {
            total,
            principals: component.connections,
        }),
        name: component.name,
        status: component.status.to_lowercase(),
        message: component.message,
        counts,
    })
}

/// The row of a whole server.
async fn server_row(connection: &GatewayConnection, url: &http::Uri) -> anyhow::Result<SourceRow> {
    let mut counts = [0; 4];
    for (count, list) in std::iter::zip(&mut counts, List::ALL) {
        *count = u64::try_from(entries(connection, list).await?.len())?;
    }
    let [tools, prompts, resources, templates] = counts;
    Ok(SourceRow {
        name: url.to_string(),
        status: "healthy".to_owned(),
        message: "ok".to_owned(),
        connections: None,
        counts: ListCounts {
            tools,
            prompts,
            resources,
            templates,
        },
    })
}

/// The column of the status.
const STATUS: usize = 1;

/// A table with the first line of each message, then the other lines of long messages, such as the
/// output of a server that failed.
fn to_text(rows: &[SourceRow], style: Style) -> String {
    let heading = [
        "source",
        "status",
        "tools",
        "prompts",
        "resources",
        "templates",
        "connections",
        "message",
    ];
    let mut cells = vec![heading.map(str::to_owned)];
    cells.extend(rows.iter().map(|row| {
        let counts = &row.counts;
        let connections = row.connections.as_ref();
        [
            printable(&row.name),
            printable(&row.status),
            counts.tools.to_string(),
            counts.prompts.to_string(),
            counts.resources.to_string(),
            counts.templates.to_string(),
            printable(&connections.map_or("-".to_owned(), ToString::to_string)),
            printable(row.message.lines().next().unwrap_or_default()),
        ]
    }));
    let mut text = styled_columns(&cells, |row, column, cell| match (row, column) {
        (0, _) => style.heading(cell),
        (_, STATUS) => style.status(cell),
        _ => cell.to_owned(),
    });
    for row in rows {
        let mut details = row.message.lines().skip(1).peekable();
        if details.peek().is_some() {
            text += &format!("\n{}\n", style.heading(&printable(&row.name)));
        }
        for line in details {
            text += &format!("  {}\n", printable(line));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_long_messages_below_the_table() {
        let row = |name: &str, status: &str, message: &str| SourceRow {
            name: name.to_owned(),
            status: status.to_owned(),
            message: message.to_owned(),
            connections: (name == "a").then(|| Connections {
                total: 3,
                principals: Some([("ada".to_owned(), 2)].into()),
            }),
            counts: ListCounts {
                tools: 1,
                prompts: 0,
                resources: 0,
                templates: 0,
            },
        };
        let rows = [
            row("a", "critical", "it failed\ncommand: x\nstderr:\none"),
            row("b", "healthy", "ok"),
        ];
        let text = to_text(&rows, Style { color: false });
        let expected = "source  status    tools  prompts  resources  templates  connections           message\n\
            a       critical  1      0        0          0          3 (ada 2, gateway 1)  it failed\n\
            b       healthy   1      0        0          0          -                     ok\n\
            \n\
            a\n  command: x\n  stderr:\n  one\n";
        assert_eq!(text, expected);
    }
}
