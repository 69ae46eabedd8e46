//! `capability-index://elements/{type}` and `…/{type}/{name}`: the elements of one kind, and a
//! single element (S3.18).

use serde_json::{Value, json};
use tidegate_core::{Element, ElementFacts, Error, List, RawJson, SearchFilter, percent_encode};

use super::kinds::{KINDS, parse_kind, plural, singular};
use super::verbs::verb;
use super::view::IndexView;
use crate::declarations::{
    CompletionInput, DeclaredTemplate, ResourceContents, TemplateInfo, TemplateMatch,
};

/// Elements on one page.
const PAGE_SIZE: usize = 200;

const MAX_SIMILAR: usize = 5;

pub(super) fn templates() -> [DeclaredTemplate<IndexView>; 2] {
    [list_template(), element_template()]
}

fn list_template() -> DeclaredTemplate<IndexView> {
    let info = TemplateInfo {
        name: "Capability Index Elements",
        title: "Elements of one kind",
        description: "All tools, prompts, resources or templates, optionally only those of one \
            source or those that match a query. In pages of 200.",
        mime: Some("application/json"),
    };
    let text = "capability-index://elements/{type}{?source,query,page}".to_owned();
    DeclaredTemplate::new(text, info, |view, matched| {
        Box::pin(async move { read_list(view, &matched) })
    })
    .with_completer("type", |_, input| {
        Box::pin(async move { Ok(complete_kind(&input)) })
    })
    .with_completer("source", |view, input| {
        Box::pin(async move {
            let ids = view.index.sources().map(ToString::to_string);
            Ok(ids.filter(|id| id.starts_with(&input.typed)).collect())
        })
    })
    .with_completer("page", |view, input| {
        Box::pin(async move { Ok(complete_page(view, &input)) })
    })
}

fn element_template() -> DeclaredTemplate<IndexView> {
    let info = TemplateInfo {
        name: "Capability Index Element",
        title: "One element",
        description: "One element with its definition, its token cost and similar elements.",
        mime: Some("application/json"),
    };
    let text = "capability-index://elements/{type}/{name}".to_owned();
    DeclaredTemplate::new(text, info, |view, matched| {
        Box::pin(async move { read_element(view, &matched) })
    })
    .with_completer("type", |_, input| {
        Box::pin(async move { Ok(complete_kind(&input)) })
    })
    .with_completer("name", |view, input| {
        Box::pin(async move { Ok(complete_name(view, &input)) })
    })
}

fn complete_kind(input: &CompletionInput<'_>) -> Vec<String> {
    let names = KINDS.iter().map(|(plural, _, _)| *plural);
    let matching = names.filter(|name| name.starts_with(&input.typed));
    matching.map(str::to_owned).collect()
}

/// Names of the kind that is already selected, otherwise of all kinds.
fn complete_name(view: &IndexView, input: &CompletionInput<'_>) -> Vec<String> {
    let selected = input.other_arguments.get("type");
    let selected = selected.map(|name| parse_kind(name));
    let is_selected =
        |element: &Element<'_>| selected.is_none_or(|list| list == Some(element.list));
    let names = view.index.elements().filter(is_selected);
    let names = names.map(|element| element.name);
    let matching = names.filter(|name| name.starts_with(&input.typed));
    matching.map(str::to_owned).collect()
}

/// Page numbers for the arguments that are already selected.
fn complete_page(view: &IndexView, input: &CompletionInput<'_>) -> Vec<String> {
    let selected = |name: &str| input.other_arguments.get(name).map(String::as_str);
    let Some(list) = selected("type").and_then(parse_kind) else {
        return Vec::new();
    };
    let (source, query) = (selected("source"), selected("query"));
    let count = matching(view, list, source, query, usize::MAX).len();
    let pages = 1..=count.div_ceil(PAGE_SIZE).max(1);
    let pages = pages.map(|page| page.to_string());
    pages
        .filter(|page| page.starts_with(&input.typed))
        .collect()
}

/// The elements of a kind, optionally of one source. With a query, the best matches up to `limit`.
fn matching<'a>(
    view: &'a IndexView,
    list: List,
    source: Option<&str>,
    query: Option<&str>,
    limit: usize,
) -> Vec<Element<'a>> {
    let Some(query) = query.filter(|query| !query.is_empty()) else {
        let elements = view.index.list(list);
        return elements
            .filter(|element| source.is_none_or(|id| element.source.as_str() == id))
            .collect();
    };
    let filter = SearchFilter {
        list: Some(list),
        source,
    };
    let hits = view.index.search(query, filter, limit);
    hits.into_iter().map(|hit| hit.element).collect()
}

fn read_list(view: &IndexView, matched: &TemplateMatch<'_>) -> Result<ResourceContents, Error> {
    let not_found = || matched.not_found();
    let list = parse_kind(matched.path_variable("type")).ok_or_else(not_found)?;
    let page: usize = match matched.get("page") {
        None => 1,
        Some(text) => {
            let number = text.parse().ok().filter(|page| *page > 0);
            number.ok_or_else(not_found)?
        }
    };
    let limit = page.saturating_mul(PAGE_SIZE).saturating_add(1);
    let elements = matching(
        view,
        list,
        matched.get("source"),
        matched.get("query"),
        limit,
    );
    let start = (page - 1).saturating_mul(PAGE_SIZE);
    // An empty list has one page.
    if page > 1 && start >= elements.len() {
        return Err(not_found());
    }
    let end = start.saturating_add(PAGE_SIZE).min(elements.len());
    let items: Value = elements[start..end].iter().map(list_item).collect();
    let mut result = json!({ "type": plural(list), "elements": items });
    if end < elements.len() {
        result["nextPage"] = json!(page + 1);
    }
    ResourceContents::json(&result)
}

fn list_item(element: &Element<'_>) -> Value {
    let facts = ElementFacts::of(element.list, element.definition);
    json!({
        "name": element.name,
        "source": element.source.as_str(),
        "title": facts.title,
        "description": facts.first_sentence(),
        "uri": element_uri(element),
    })
}

fn element_uri(element: &Element<'_>) -> String {
    let (kind, name) = (plural(element.list), percent_encode(element.name));
    format!("capability-index://elements/{kind}/{name}")
}

fn read_element(view: &IndexView, matched: &TemplateMatch<'_>) -> Result<ResourceContents, Error> {
    let list = parse_kind(matched.path_variable("type"));
    let element = list.and_then(|list| view.index.get(list, matched.path_variable("name")));
    let element = element.ok_or_else(|| matched.not_found())?;
    let facts = ElementFacts::of(element.list, element.definition);
    let similar = view.index.similar(element, MAX_SIMILAR);
    let similar: Value = similar
        .iter()
        .map(|hit| json!({ "name": hit.element.name, "uri": element_uri(&hit.element) }))
        .collect();
    let description = RawJson::from(json!({
        "type": singular(element.list),
        "name": element.name,
        "source": element.source.as_str(),
        "tokens": view.state.token_costs.of(&element),
        "verb": verb(&facts),
        "similar": similar,
    }));
    // The definition is included as raw text, so that numbers keep their digits.
    let mut object = description.object().unwrap_or_default();
    object.set("definition", element.definition.as_str());
    Ok(ResourceContents::text(object.write().as_str()))
}
