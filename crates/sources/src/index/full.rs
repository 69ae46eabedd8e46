//! `capability-index://full`: every element, in pages that fit a model's context.

use std::fmt::Write as _;

use tidegate_core::{Code, Element, ElementFacts, Error};

use super::kinds::singular;
use super::verbs::verb;
use super::view::IndexView;
use crate::declarations::{DeclaredTemplate, TemplateInfo};
use crate::tokens;

pub const FULL: &str = "capability-index://full";

/// The limit of a page (S3.3).
const MAX_TOKENS: usize = 40_000;

/// Reserved for the header and footer of a page.
const FRAME_TOKENS: usize = 1_500;

const MAX_TEXT_CHARS: usize = 600;

/// Similar elements that are named, and the limit for naming them.
const MAX_SIMILAR: usize = 3;
const MAX_SIMILAR_TOKENS: usize = 60;

const MAX_ARGUMENTS: usize = 20;
const MAX_ARGUMENT_CHARS: usize = 64;

const MAX_COMPLETED_PAGES: usize = 100;

pub(super) fn pages() -> DeclaredTemplate<IndexView> {
    let info = TemplateInfo {
        name: "Capability Index Page",
        title: "Capability index, by page",
        description: "One page of the full index; the first page is 1.",
        mime: Some("text/markdown"),
    };
    let text = format!("{FULL}?page={{page}}");
    DeclaredTemplate::new(text, info, |view, matched| {
        Box::pin(async move {
            let number = matched.path_variable("page").parse().ok();
            let number = number.filter(|number| *number > 0).ok_or_else(|| {
                let message = "`page` must be an integer of at least 1";
                Error::client(Code::InvalidParams, message).with_uri(matched.uri)
            })?;
            if page_bounds(view, number).is_none() {
                return Err(matched.not_found());
            }
            Ok(view.cached(matched.uri, |view| page(view, number).unwrap_or_default()))
        })
    })
    .with_completer("page", |view, input| {
        Box::pin(async move {
            let pages = 1..=MAX_COMPLETED_PAGES;
            let pages = pages.take_while(|number| page_bounds(view, *number).is_some());
            let pages = pages.map(|number| number.to_string());
            Ok(pages
                .filter(|page| page.starts_with(&input.typed))
                .collect())
        })
    })
}

/// The text of a page; `None` past the last one.
pub(super) fn page(view: &IndexView, number: usize) -> Option<String> {
    let (start, end) = page_bounds(view, number)?;
    let total = view.index.elements().count();
    let mut text = format!("# Capability index, page {number}\n\n");
    let first = (start + 1).min(total);
    writeln!(text, "Elements {first} to {end} of {total}.\n").ok()?;
    if number == 1 {
        push_vocabulary(&mut text, view);
    }
    for element in view.index.elements().skip(start).take(end - start) {
        text.push_str(&element_block(view, &element));
        push_similar(&mut text, view, element);
        text.push('\n');
    }
    // Names are not truncated, so a single element may exceed the budget.
    let mut text = tokens::prefix(&text, MAX_TOKENS - FRAME_TOKENS / 2).to_owned();
    if end < total {
        writeln!(text, "\nNext: `{FULL}?page={}`", number + 1).ok()?;
    }
    Some(text)
}

fn page_bounds(view: &IndexView, number: usize) -> Option<(usize, usize)> {
    let cost =
        |element: &Element<'_>| tokens::count(&element_block(view, element)) + MAX_SIMILAR_TOKENS;
    let budget = MAX_TOKENS - FRAME_TOKENS;
    let bounds = &view.state.page_bounds;
    bounds.get(&view.index, number, budget, cost)
}

fn push_vocabulary(text: &mut String, view: &IndexView) {
    let keywords = view.index.keywords(None, 100);
    let words: Vec<_> = keywords
        .iter()
        .map(|keyword| keyword.word.as_str())
        .collect();
    writeln!(text, "Vocabulary: {}\n", words.join(", ")).unwrap_or_default();
}

/// Everything about an element except similar ones.
fn element_block(view: &IndexView, element: &Element<'_>) -> String {
    let facts = ElementFacts::of(element.list, element.definition);
    let mut text = format!("## {} `{}`\n\n", singular(element.list), element.name);
    let mut push_line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    if let Some(title) = facts.title.as_deref().filter(|title| *title != facts.name) {
        push_line(&format!("**{}**", truncated(&single_line(title))));
    }
    if let Some(description) = &facts.description {
        push_line(&truncated(&single_line(description)));
    }
    let tokens = view.state.token_costs.of(element);
    let mut details = format!("- source: {}, {tokens} tokens", element.source);
    if let Some(verb) = verb(&facts) {
        details.push_str(&format!(", verb: {verb}"));
    }
    if let Some(mime) = &facts.mime {
        details.push_str(&format!(", type: {}", truncated(&single_line(mime))));
    }
    push_line(&details);
    if !facts.arguments.is_empty() {
        push_line(&format!("- takes: {}", argument_names(&facts)));
    }
    text
}

/// Argument names; optional ones are marked with `?`.
fn argument_names(facts: &ElementFacts) -> String {
    let names = facts.arguments.iter().take(MAX_ARGUMENTS).map(|argument| {
        let mark = if argument.required { "" } else { "?" };
        let name = single_line(&argument.name);
        let name: String = name.chars().take(MAX_ARGUMENT_CHARS).collect();
        format!("{name}{mark}")
    });
    let names = names.collect::<Vec<_>>().join(", ");
    match facts.arguments.len().saturating_sub(MAX_ARGUMENTS) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// Names similar elements, unless their names are too long.
fn push_similar(text: &mut String, view: &IndexView, element: Element<'_>) {
    let hits = view.index.similar(element, MAX_SIMILAR);
    let names: Vec<_> = hits
        .iter()
        .map(|hit| format!("`{}`", hit.element.name))
        .collect();
    let line = format!("- similar: {}\n", names.join(", "));
    if !names.is_empty() && tokens::count(&line) <= MAX_SIMILAR_TOKENS {
        text.push_str(&line);
    }
}

fn truncated(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Text on one line, with `|` escaped for Markdown tables.
fn single_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace('|', "\\|")
}
