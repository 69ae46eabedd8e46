//! `capability-index://summary`: an overview for the start of a conversation.

use std::fmt::Write as _;

use super::kinds::{KINDS, singular};
use super::recent_changes::ElementChange;
use super::verbs::tools_by_verb;
use super::view::IndexView;
use crate::tokens;

/// The limit of the summary (S3.2).
const MAX_TOKENS: usize = 3_000;

/// How much of each section is shown, from most to least; the first that fits is used.
const SECTION_LIMITS: [SectionLimits; 4] = [
    SectionLimits {
        sources: 100,
        keywords: 40,
        changes: 20,
        verbs: 20,
    },
    SectionLimits {
        sources: 50,
        keywords: 30,
        changes: 10,
        verbs: 12,
    },
    SectionLimits {
        sources: 25,
        keywords: 20,
        changes: 5,
        verbs: 6,
    },
    SectionLimits {
        sources: 10,
        keywords: 10,
        changes: 3,
        verbs: 0,
    },
];

#[derive(Clone, Copy)]
struct SectionLimits {
    sources: usize,
    keywords: usize,
    changes: usize,
    verbs: usize,
}

pub(super) fn render(view: &IndexView) -> String {
    let mut text = String::new();
    for limits in SECTION_LIMITS {
        text = render_within(view, limits);
        if tokens::count(&text) <= MAX_TOKENS {
            return text;
        }
    }
    tokens::prefix(&text, MAX_TOKENS).to_owned()
}

fn render_within(view: &IndexView, limits: SectionLimits) -> String {
    let mut text = String::from("# Capability index\n\n");
    let counts: Vec<_> = KINDS
        .iter()
        .map(|(plural, _, list)| format!("{} {plural}", view.count(*list)))
        .collect();
    push_line(&mut text, &format!("{}.\n", counts.join(", ")));
    push_sources(&mut text, view, limits.sources);
    push_keywords(&mut text, view, limits.keywords);
    push_verbs(&mut text, view, limits.verbs);
    push_changes(&mut text, view, limits.changes);
    push_more(&mut text, view);
    text
}

/// Where there is more, of what is exposed.
fn push_more(text: &mut String, view: &IndexView) {
    push_line(text, "## More\n");
    if view.state.exposes_full {
        push_line(text, "- `capability-index://full`: every element, in pages");
    }
    if view.state.exposes_elements {
        push_line(
            text,
            "- `capability-index://elements/{type}` and \
             `capability-index://elements/{type}/{name}`: one kind, or one element with similar ones",
        );
    }
    push_line(text, "- the tool `gateway__search`: search by words");
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_sources(text: &mut String, view: &IndexView, limit: usize) {
    push_line(text, "## Sources\n");
    push_line(
        text,
        "| source | tools | prompts | resources | templates | tokens of its tools |",
    );
    push_line(text, "|---|---|---|---|---|---|");
    let sources = view.state.token_costs.by_source(&view.index);
    for (id, costs) in sources.iter().take(limit) {
        let [tools, prompts, resources, templates] = costs.element_counts;
        let tokens = costs.tool_tokens;
        push_line(
            text,
            &format!("| {id} | {tools} | {prompts} | {resources} | {templates} | {tokens} |"),
        );
    }
    let omitted = sources.len().saturating_sub(limit);
    if omitted > 0 {
        push_line(text, &format!("\nAnd {omitted} more sources."));
    }
    let tokens: usize = sources.iter().map(|(_, costs)| costs.tool_tokens).sum();
    push_line(
        text,
        &format!("\nListing all tools costs {tokens} tokens.\n"),
    );
}

fn push_keywords(text: &mut String, view: &IndexView, limit: usize) {
    let keywords = view.index.keywords(None, limit);
    if keywords.is_empty() {
        return;
    }
    let keywords: Vec<_> = keywords
        .iter()
        .map(|keyword| format!("{} ({})", keyword.word, keyword.elements))
        .collect();
    push_line(text, &format!("## Keywords\n\n{}\n", keywords.join(", ")));
}

fn push_verbs(text: &mut String, view: &IndexView, limit: usize) {
    const MAX_TOOLS: usize = 4;
    let verbs = tools_by_verb(&view.index);
    if limit == 0 || verbs.is_empty() {
        return;
    }
    push_line(text, "## What tools do\n");
    for (verb, tools) in verbs.iter().take(limit) {
        let named: Vec<_> = tools
            .iter()
            .take(MAX_TOOLS)
            .map(|name| format!("`{name}`"))
            .collect();
        let more = match tools.len().saturating_sub(MAX_TOOLS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        push_line(text, &format!("- {verb}: {}{more}", named.join(", ")));
    }
    text.push('\n');
}

fn push_changes(text: &mut String, view: &IndexView, limit: usize) {
    push_line(text, "## Recent changes\n");
    if view.recent_changes.is_empty() {
        push_line(text, "None since the index was first read.\n");
        return;
    }
    for change in view.recent_changes.iter().take(limit) {
        let verb = match change.kind {
            ElementChange::Added => "added",
            ElementChange::Changed => "changed",
            ElementChange::Removed => "removed",
        };
        let time = humantime::format_rfc3339_seconds(change.at);
        let (kind, name) = (singular(change.list), &change.name);
        writeln!(text, "- {time}: {kind} `{name}` {verb}").unwrap_or_default();
    }
    text.push('\n');
}
