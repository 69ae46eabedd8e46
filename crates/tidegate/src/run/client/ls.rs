//! `tidegate ls`: lists tools, prompts, resources and templates.

use std::fmt::Write as _;

use tidegate_core::{List, Object, RawJson};

use super::availability::unhealthy_sources;
use super::connection::GatewayConnection;
use super::lists::{entries, entry_key, list_name};
use super::output::{CommandOutput, Style, columns, printable};

type Listing = (List, Vec<RawJson>);

pub(super) async fn run(
    connection: &GatewayConnection,
    lists: &[List],
    json: bool,
    style: Style,
) -> anyhow::Result<CommandOutput> {
    let mut listings = Vec::new();
    for list in lists {
        listings.push((*list, entries(connection, *list).await?));
    }
    let mut output = match json {
        true => CommandOutput::json(&to_json(&listings)),
        false => CommandOutput::data(to_text(&listings, style)),
    };
    // The lists lack the entries of these sources.
    for source in unhealthy_sources(connection) {
        writeln!(output.messages, "tidegate: {}", source.message).ok();
    }
    Ok(output)
}

/// An object with one member per list; the entries are unchanged.
fn to_json(listings: &[Listing]) -> RawJson {
    let mut members = Object::default();
    for (list, entries) in listings {
        let entries: Vec<&str> = entries.iter().map(RawJson::as_str).collect();
        members.set(list_name(*list), format!("[{}]", entries.join(",")));
    }
    members.write()
}

/// One list without a heading, several with one each.
fn to_text(listings: &[Listing], style: Style) -> String {
    if let [(list, entries)] = listings {
        return columns(&rows(*list, entries, ""));
    }
    let mut text = String::new();
    let listings = listings.iter().filter(|(_, entries)| !entries.is_empty());
    for (list, entries) in listings {
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}{}\n", style.heading(list_name(*list)));
        text += &columns(&rows(*list, entries, "  "));
    }
    text
}

fn rows(list: List, entries: &[RawJson], indent: &str) -> Vec<[String; 2]> {
    let row = |entry: &RawJson| {
        let key = entry_key(list, entry).unwrap_or_default();
        [format!("{indent}{}", printable(&key)), summary(entry)]
    };
    entries.iter().map(row).collect()
}

/// The first line of the description, title or name of an entry.
fn summary(entry: &RawJson) -> String {
    let members = entry.object().unwrap_or_default();
    let text = ["description", "title", "name"]
        .into_iter()
        .filter_map(|member| members.string(member))
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default();
    printable(text.trim().lines().next().unwrap_or_default())
}
