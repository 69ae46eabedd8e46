//! `capability-index://full`: every element, in pages that a model's context can hold.

use std::fmt::Write as _;

use tidegate_core::{Code, Element, ElementFacts, Error};

use super::figures::{inline, one};
use super::verbs::verb;
use super::{FULL, Glance};
use crate::declare::{About, Template};
use crate::tokens;

/// What a page may cost (S3.3).
const MOST_TOKENS: usize = 40_000;

/// What its beginning and its end may.
const AROUND: usize = 1_500;

/// What may be said of one element, in characters.
const LONGEST_DESCRIPTION: usize = 600;

/// Things alike that are named, and what naming them may cost.
const ALIKE: usize = 3;
const ALIKE_TOKENS: usize = 60;

const ARGUMENTS: usize = 20;

pub(super) fn pages() -> Template<Glance> {
    let about = About {
        name: "Capability Index Page",
        title: "Capability index, by page",
        description: "The pages of the whole index, from 1.",
        mime: Some("text/markdown"),
    };
    let read = Template::new(
        format!("{FULL}?page={{page}}"),
        about,
        |glance, expanded| {
            Box::pin(async move {
                let number = expanded.value("page").parse().ok();
                let number = number.filter(|number| *number > 0).ok_or_else(|| {
                    let message = "a page is a number, from 1";
                    Error::client(Code::InvalidParams, message).with_uri(expanded.uri)
                })?;
                if bounds(glance, number).is_none() {
                    return Err(expanded.not_found());
                }
                Ok(glance.kept(expanded.uri, |glance| {
                    page(glance, number).unwrap_or_default()
                }))
            })
        },
    );
    read.completed("page", |glance, typed| {
        Box::pin(async move {
            let mut pages = Vec::new();
            for number in 1..=100 {
                if bounds(glance, number).is_none() {
                    break;
                }
                pages.push(number.to_string());
            }
            pages.retain(|page| page.starts_with(&typed.value));
            Ok(pages)
        })
    })
}

/// The text of a page; none if there is none with this number.
pub(super) fn page(glance: &Glance, number: usize) -> Option<String> {
    let (start, end) = bounds(glance, number)?;
    let total = glance.index.elements().count();
    let mut text = format!("# Capability index, page {number}\n\n");
    writeln!(
        text,
        "Elements {} to {end} of {total}.\n",
        (start + 1).min(total)
    )
    .ok()?;
    if number == 1 {
        vocabulary(&mut text, glance);
    }
    for element in glance.index.elements().skip(start).take(end - start) {
        text.push_str(&block(glance, &element));
        alike(&mut text, glance, element);
        text.push('\n');
    }
    // The name of an element is as long as its source made it.
    let mut text = tokens::within(&text, MOST_TOKENS - AROUND / 2).to_owned();
    if end < total {
        writeln!(text, "\nNext: `{FULL}?page={}`", number + 1).ok()?;
    }
    Some(text)
}

/// Where a page begins and ends.
fn bounds(glance: &Glance, number: usize) -> Option<(usize, usize)> {
    let cost = |element: &Element<'_>| tokens::count(&block(glance, element)) + ALIKE_TOKENS;
    let budget = MOST_TOKENS - AROUND;
    glance
        .state
        .pages
        .bounds(&glance.index, number, budget, cost)
}

fn vocabulary(text: &mut String, glance: &Glance) {
    let keywords = glance.index.keywords(None, 100);
    let words: Vec<_> = keywords.iter().map(|one| one.word.as_str()).collect();
    writeln!(text, "Vocabulary: {}\n", words.join(", ")).unwrap_or_default();
}

/// What there is to say of an element by itself.
fn block(glance: &Glance, element: &Element<'_>) -> String {
    let facts = ElementFacts::of(element.list, element.definition);
    let mut text = format!("## {} `{}`\n\n", one(element.list), element.name);
    let mut say = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if let Some(title) = facts.title.as_deref().filter(|title| *title != facts.name) {
        say(format!("**{}**", clipped(&inline(title))));
    }
    if let Some(description) = &facts.description {
        say(clipped(&inline(description)));
    }
    let cost = glance.state.costs.of(element);
    let mut about = format!("- source: {}, {cost} tokens", element.source);
    if let Some(verb) = verb(&facts) {
        about.push_str(&format!(", verb: {verb}"));
    }
    if let Some(mime) = &facts.mime {
        about.push_str(&format!(", type: {}", clipped(&inline(mime))));
    }
    say(about);
    if !facts.arguments.is_empty() {
        let names = facts.arguments.iter().take(ARGUMENTS).map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            let name: String = inline(&argument.name).chars().take(64).collect();
            format!("{name}{mark}")
        });
        let more = facts.arguments.len().saturating_sub(ARGUMENTS);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        say(format!(
            "- takes: {}{more}",
            names.collect::<Vec<_>>().join(", ")
        ));
    }
    text
}

/// What is like an element, if naming it costs little.
fn alike(text: &mut String, glance: &Glance, element: Element<'_>) {
    let hits = glance.index.similar(element, ALIKE);
    let names: Vec<_> = hits
        .iter()
        .map(|hit| format!("`{}`", hit.element.name))
        .collect();
    let line = format!("- like: {}\n", names.join(", "));
    if !names.is_empty() && tokens::count(&line) <= ALIKE_TOKENS {
        text.push_str(&line);
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
