//! `capability-index://elements/{type}` and `…/{type}/{name}`: one kind, and one element (S3.18).

use serde_json::{Value, json};
use tidegate_core::{Element, ElementFacts, Error, List, RawJson, SearchFilter, percent_encode};

use super::Glance;
use super::figures::{KINDS, kind, many, one};
use super::verbs::verb;
use crate::declare::{About, Body, Expanded, Template, Typed};

/// Elements on one page.
const PAGE: usize = 200;

const ALIKE: usize = 5;

pub(super) fn templates() -> [Template<Glance>; 2] {
    [of_kind(), by_name()]
}

fn of_kind() -> Template<Glance> {
    let about = About {
        name: "Capability Index Elements",
        title: "Elements of one kind",
        description: "All tools, prompts, resources or templates; only those of a source, or that \
            fit a query, where one is given. In pages of 200.",
        mime: Some("application/json"),
    };
    let text = "capability-index://elements/{type}{?source,query,page}".to_owned();
    Template::new(text, about, |glance, expanded| {
        Box::pin(async move { list(glance, &expanded) })
    })
    .completed("type", |_, typed| {
        Box::pin(async move { Ok(kinds(&typed)) })
    })
    .completed("source", |glance, typed| {
        Box::pin(async move {
            let ids = glance.index.sources().map(ToString::to_string);
            Ok(ids.filter(|id| id.starts_with(&typed.value)).collect())
        })
    })
    .completed("page", |glance, typed| {
        Box::pin(async move { Ok(pages(glance, &typed)) })
    })
}

fn by_name() -> Template<Glance> {
    let about = About {
        name: "Capability Index Element",
        title: "One element",
        description: "One element with its definition, what it costs and what is like it.",
        mime: Some("application/json"),
    };
    let text = "capability-index://elements/{type}/{name}".to_owned();
    Template::new(text, about, |glance, expanded| {
        Box::pin(async move { element(glance, &expanded) })
    })
    .completed("type", |_, typed| {
        Box::pin(async move { Ok(kinds(&typed)) })
    })
    .completed("name", |glance, typed| {
        Box::pin(async move { Ok(names(glance, &typed)) })
    })
}

fn kinds(typed: &Typed<'_>) -> Vec<String> {
    let all = KINDS.iter().map(|(many, _, _)| *many);
    let fitting = all.filter(|kind| kind.starts_with(&typed.value));
    fitting.map(str::to_owned).collect()
}

/// The names of the kind that is chosen already, else of all.
fn names(glance: &Glance, typed: &Typed<'_>) -> Vec<String> {
    let chosen = typed.others.get("type");
    let chosen = chosen.map(|name| kind(name));
    let is_chosen = |element: &Element<'_>| match chosen {
        None => true,
        Some(list) => Some(element.list) == list,
    };
    let names = glance.index.elements().filter(is_chosen);
    let names = names.map(|element| element.name);
    let fitting = names.filter(|name| name.starts_with(&typed.value));
    fitting.map(str::to_owned).collect()
}

/// The pages there are of what is chosen already.
fn pages(glance: &Glance, typed: &Typed<'_>) -> Vec<String> {
    let chosen = |name: &str| typed.others.get(name).map(String::as_str);
    let Some(list) = chosen("type").and_then(kind) else {
        return Vec::new();
    };
    let count = fitting(glance, list, chosen("source"), chosen("query"), usize::MAX).len();
    let pages = (1..=count.div_ceil(PAGE).max(1)).map(|page| page.to_string());
    pages
        .filter(|page| page.starts_with(&typed.value))
        .collect()
}

/// The elements of a kind, only those of a source or that fit a query where one is given, at most so
/// many.
fn fitting<'a>(
    glance: &'a Glance,
    list: List,
    source: Option<&str>,
    query: Option<&str>,
    most: usize,
) -> Vec<Element<'a>> {
    let Some(query) = query.filter(|query| !query.is_empty()) else {
        let of_source =
            |element: &Element<'_>| source.is_none_or(|id| element.source.as_str() == id);
        return glance.index.list(list).filter(of_source).collect();
    };
    let wanted = SearchFilter {
        list: Some(list),
        source,
    };
    let hits = glance.index.search(query, wanted, most);
    hits.into_iter().map(|hit| hit.element).collect()
}

fn list(glance: &Glance, expanded: &Expanded<'_>) -> Result<Body, Error> {
    let list = kind(expanded.value("type")).ok_or_else(|| expanded.not_found())?;
    let page: usize = match expanded.get("page") {
        None => 1,
        Some(text) => text
            .parse()
            .ok()
            .filter(|page| *page > 0)
            .ok_or_else(|| expanded.not_found())?,
    };
    let (source, query) = (expanded.get("source"), expanded.get("query"));
    let most = page.saturating_mul(PAGE).saturating_add(1);
    let all = fitting(glance, list, source, query, most);
    let start = (page - 1).saturating_mul(PAGE);
    // Nothing at all is one page too.
    if page > 1 && start >= all.len() {
        return Err(expanded.not_found());
    }
    let end = start.saturating_add(PAGE).min(all.len());
    let told: Value = all[start..end].iter().map(brief).collect();
    let mut text = json!({ "type": many(list), "elements": told });
    if end < all.len() {
        text["nextPage"] = json!(page + 1);
    }
    Body::json(&text)
}

fn brief(element: &Element<'_>) -> Value {
    let facts = ElementFacts::of(element.list, element.definition);
    json!({
        "name": element.name,
        "source": element.source.as_str(),
        "title": facts.title,
        "description": facts.first_sentence(),
        "uri": uri(element),
    })
}

/// Where an element is read by itself.
fn uri(element: &Element<'_>) -> String {
    let (kind, name) = (many(element.list), percent_encode(element.name));
    format!("capability-index://elements/{kind}/{name}")
}

fn element(glance: &Glance, expanded: &Expanded<'_>) -> Result<Body, Error> {
    let list = kind(expanded.value("type"));
    let found = list.and_then(|list| glance.index.get(list, expanded.value("name")));
    let element = found.ok_or_else(|| expanded.not_found())?;
    let facts = ElementFacts::of(element.list, element.definition);
    let similar = glance.index.similar(element, ALIKE);
    let similar: Value = similar
        .iter()
        .map(|hit| json!({ "name": hit.element.name, "uri": uri(&hit.element) }))
        .collect();
    let about = json!({
        "type": one(element.list),
        "name": element.name,
        "source": element.source.as_str(),
        "tokens": glance.state.costs.of(&element),
        "verb": verb(&facts),
        "similar": similar,
    });
    // The definition as it is, to the last digit.
    let about = RawJson::from(about);
    let mut told = about.object().unwrap_or_default();
    told.set("definition", element.definition.as_str());
    Ok(Body::text(told.write().as_str()))
}
