//! `tidegate ls`, and the lists for whoever else needs them.

use std::fmt::Write as _;

use serde_json::value::RawValue;
use tidegate_core::{Error, GatewayOperation, List, Object, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::{Answer, columns, plain};
use super::place::Place;
use super::unknown::missing_sources;

pub(super) async fn answer(place: &Place, lists: &[List], json: bool) -> anyhow::Result<Answer> {
    let mut all = Vec::new();
    for list in lists {
        all.push((*list, entries(place, *list).await?));
    }
    let mut answer = match json {
        true => Answer::json(&as_json(&all)),
        false => Answer::of(as_text(&all)),
    };
    // A list without what a source has is an answer, but not the whole one.
    for line in missing_sources(place) {
        writeln!(answer.words, "tidegate: {line}").ok();
    }
    Ok(answer)
}

/// Every entry of a list, through all its pages.
pub(super) async fn entries(place: &Place, list: List) -> Result<Vec<RawJson>, Error> {
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let operation = Operation::Gateway(GatewayOperation::List { list, cursor });
        let page = place
            .ask(method(list), operation, RawJson::empty_object())
            .await?;
        let members = page.object().unwrap_or_default();
        let text = members.get(list.member()).unwrap_or("[]");
        let here: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|error| Error::internal("the list cannot be read").with_cause(error))?;
        entries.extend(here.iter().map(|one| RawJson::copy_of(one.get())));
        cursor = members.string("nextCursor");
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

fn method(list: List) -> Method {
    match list {
        List::Tools => Method::ToolsList,
        List::Prompts => Method::PromptsList,
        List::Resources => Method::ResourcesList,
        List::Templates => Method::TemplatesList,
    }
}

/// What an entry is asked for by.
pub(super) fn key(list: List, entry: &RawJson) -> Option<String> {
    let member = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    entry.object()?.string(member)
}

/// The word for a list on the command line.
pub(super) fn word(list: List) -> &'static str {
    match list {
        List::Tools => "tools",
        List::Prompts => "prompts",
        List::Resources => "resources",
        List::Templates => "templates",
    }
}

/// Each list under its word, each entry as its source wrote it.
fn as_json(all: &[(List, Vec<RawJson>)]) -> RawJson {
    let mut members = Object::default();
    for (list, entries) in all {
        let entries: Vec<&str> = entries.iter().map(RawJson::as_str).collect();
        members.set(word(*list), format!("[{}]", entries.join(",")));
    }
    members.write()
}

/// One list as lines; several with a heading each.
fn as_text(all: &[(List, Vec<RawJson>)]) -> String {
    if let [(list, entries)] = all {
        return columns(&rows(*list, entries, ""));
    }
    let mut text = String::new();
    for (list, entries) in all.iter().filter(|(_, entries)| !entries.is_empty()) {
        let gap = if text.is_empty() { "" } else { "\n" };
        text += &format!("{gap}{}\n", word(*list));
        text += &columns(&rows(*list, entries, "  "));
    }
    text
}

fn rows(list: List, entries: &[RawJson], indent: &str) -> Vec<[String; 2]> {
    let row = |entry: &RawJson| {
        let key = key(list, entry).unwrap_or_default();
        [format!("{indent}{}", plain(&key)), about(entry)]
    };
    entries.iter().map(row).collect()
}

/// The first line that says what an entry is.
fn about(entry: &RawJson) -> String {
    let members = entry.object().unwrap_or_default();
    let words = ["description", "title", "name"]
        .into_iter()
        .find_map(|member| {
            members
                .string(member)
                .filter(|text| !text.trim().is_empty())
        });
    let words = words.unwrap_or_default();
    plain(words.trim().lines().next().unwrap_or_default())
}
