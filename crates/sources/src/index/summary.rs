//! `capability-index://summary`: the whole at a glance, for the beginning of a conversation.

use std::fmt::Write as _;

use super::Glance;
use super::figures::{KINDS, one};
use super::recent::What;
use super::verbs::triggers;
use crate::tokens;

/// What it may cost (S3.2).
const MOST_TOKENS: usize = 3_000;

/// How much of each part is shown: the first that fits.
const SIZES: [Size; 4] = [
    Size {
        sources: 100,
        keywords: 40,
        changes: 20,
        verbs: 20,
    },
    Size {
        sources: 50,
        keywords: 30,
        changes: 10,
        verbs: 12,
    },
    Size {
        sources: 25,
        keywords: 20,
        changes: 5,
        verbs: 6,
    },
    Size {
        sources: 10,
        keywords: 10,
        changes: 3,
        verbs: 0,
    },
];

#[derive(Clone, Copy)]
struct Size {
    sources: usize,
    keywords: usize,
    changes: usize,
    verbs: usize,
}

pub(super) fn render(glance: &Glance) -> String {
    let mut text = String::new();
    for size in SIZES {
        text = sized(glance, size);
        if tokens::count(&text) <= MOST_TOKENS {
            return text;
        }
    }
    tokens::within(&text, MOST_TOKENS).to_owned()
}

fn sized(glance: &Glance, size: Size) -> String {
    let mut text = String::from("# Capability index\n\n");
    let counts: Vec<_> = KINDS
        .iter()
        .map(|(many, _, list)| format!("{} {many}", glance.count(*list)))
        .collect();
    line(&mut text, &format!("{}.\n", counts.join(", ")));
    sources(&mut text, glance, size.sources);
    keywords(&mut text, glance, size.keywords);
    verbs(&mut text, glance, size.verbs);
    changes(&mut text, glance, size.changes);
    line(
        &mut text,
        "## More\n\n\
         - `capability-index://full`: every element, in pages\n\
         - `capability-index://elements/{type}` and `capability-index://elements/{type}/{name}`: \
         one kind, or one element with what is like it\n\
         - the tool `gateway__search`: find by words",
    );
    text
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn sources(text: &mut String, glance: &Glance, most: usize) {
    line(text, "## Sources\n");
    line(
        text,
        "| source | tools | prompts | resources | templates | tokens of its tools |",
    );
    line(text, "|---|---|---|---|---|---|");
    let all = glance.state.costs.of_all(&glance.index);
    for (id, of_source) in all.iter().take(most) {
        let [tools, prompts, resources, templates] = of_source.counts;
        let tokens = of_source.tokens;
        line(
            text,
            &format!("| {id} | {tools} | {prompts} | {resources} | {templates} | {tokens} |"),
        );
    }
    let tokens: usize = all.iter().map(|(_, of_source)| of_source.tokens).sum();
    let more = all.len().saturating_sub(most);
    if more > 0 {
        line(text, &format!("\nAnd {more} more sources."));
    }
    line(
        text,
        &format!("\nListing all tools costs {tokens} tokens.\n"),
    );
}

fn keywords(text: &mut String, glance: &Glance, most: usize) {
    let keywords = glance.index.keywords(None, most);
    if keywords.is_empty() {
        return;
    }
    let keywords: Vec<_> = keywords
        .iter()
        .map(|one| format!("{} ({})", one.word, one.elements))
        .collect();
    line(text, &format!("## Keywords\n\n{}\n", keywords.join(", ")));
}

fn verbs(text: &mut String, glance: &Glance, most: usize) {
    const TOOLS: usize = 4;
    let all = triggers(&glance.index);
    if most == 0 || all.is_empty() {
        return;
    }
    line(text, "## What tools do\n");
    for (verb, tools) in all.iter().take(most) {
        let named: Vec<_> = tools
            .iter()
            .take(TOOLS)
            .map(|name| format!("`{name}`"))
            .collect();
        let more = tools.len().saturating_sub(TOOLS);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        line(text, &format!("- {verb}: {}{more}", named.join(", ")));
    }
    text.push('\n');
}

fn changes(text: &mut String, glance: &Glance, most: usize) {
    line(text, "## Recent changes\n");
    if glance.noticed.is_empty() {
        line(text, "None since the index was first read.\n");
        return;
    }
    for noticed in glance.noticed.iter().take(most) {
        let what = match noticed.what {
            What::Added => "added",
            What::Changed => "changed",
            What::Removed => "removed",
        };
        let when = humantime::format_rfc3339_seconds(noticed.when);
        let (kind, name) = (one(noticed.list), &noticed.name);
        writeln!(text, "- {when}: {kind} `{name}` {what}").unwrap_or_default();
    }
    text.push('\n');
}
