//! Turns an answer to face the client: a URI in it is one that leads back to the source it came
//! from. Nothing is touched where a source's own URI does that.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::task::TaskIds;
use super::view::{PAGES, QUALIFIED, View, moved_page};
use crate::{Error, Object, Operation, Outcome, RawJson, Reply, Result, SourceId, bounded_list};

/// More parts than any answer has that is meant to be read.
const MOST_PARTS: usize = 100_000;

/// Who answers, and what the client called what it asked for.
pub(super) struct ResponseRewriter {
    /// Where the answer may have the id of a task.
    pub(super) ids: Option<TaskIds>,
    pub(super) view: Arc<View>,
    pub(super) source: usize,
    pub(super) id: SourceId,
    /// What is asked, under the source's own name.
    pub(super) operation: Operation,
    /// The URI as the client spelled it, where it asked for one.
    pub(super) spelled: Option<String>,
    /// Whether all sources are seen at once, so that URIs may meet.
    pub(super) is_shared: bool,
}

impl ResponseRewriter {
    /// An answer as the client is to see it.
    pub(super) fn turn(mut self, reply: Result<Reply>) -> Result<Reply> {
        let keeps_uris = !self.is_shared && self.spelled.as_deref() == self.native();
        let ids = self.ids.take();
        if keeps_uris && ids.is_none() {
            return reply;
        }
        Reply::map_result(reply, move |result| {
            let result = match result {
                result if keeps_uris => result,
                Ok(outcome) => Ok(self.outcome(outcome)),
                Err(error) => Err(self.error(error)),
            };
            match &ids {
                Some(ids) => result.and_then(|outcome| ids.outcome(outcome)),
                None => result,
            }
        })
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Complete { result, hint } => Outcome::Complete {
                result: self.result(&result).unwrap_or(result),
                hint,
            },
            Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => outcome,
        }
    }

    /// A result with other URIs; none if it keeps those it has.
    pub(super) fn result(&self, result: &RawJson) -> Option<RawJson> {
        let text = result.as_str();
        if !text.contains("\"uri\"") && !text.contains(PAGES) {
            return None;
        }
        let turned = match &self.operation {
            Operation::Tool { .. } => self.tool_result(text),
            Operation::Task { .. } => member(text, "result", |result| self.tool_result(result)),
            Operation::Prompt { .. } => member(text, "messages", |list| {
                each(list, |message| {
                    member(message, "content", |content| self.contents(content))
                })
            }),
            Operation::Resource { .. } => member(text, "contents", |list| {
                each(list, |item| member(item, "uri", |uri| self.uri(uri)))
            }),
            Operation::Completion { .. } | Operation::Gateway(_) => None,
        };
        turned.map(|text| RawJson::copy_of(&text))
    }

    fn tool_result(&self, text: &str) -> Option<String> {
        let content = |text: &str| member(text, "content", |list| self.contents(list));
        both(text, content, |text| self.page(text))
    }

    /// One content, or a list of them.
    fn contents(&self, text: &str) -> Option<String> {
        match text.starts_with('[') {
            true => each(text, |item| self.content(item)),
            false => self.content(text),
        }
    }

    /// A link to a resource, or a resource that is in the answer itself.
    fn content(&self, text: &str) -> Option<String> {
        let link = |text: &str| member(text, "uri", |uri| self.uri(uri));
        let inside = |text: &str| member(text, "resource", |resource| link(resource));
        both(text, link, inside)
    }

    fn page(&self, text: &str) -> Option<String> {
        member(text, "_meta", |meta| {
            self.is_shared.then(|| moved_page(meta, &self.id))?
        })
    }

    /// A URI, as JSON.
    fn uri(&self, json: &str) -> Option<String> {
        let uri: String = serde_json::from_str(json).ok()?;
        let turned = self.turned(&uri)?;
        Some(RawJson::string(&turned).as_str().to_owned())
    }

    /// The URI under which a client finds what the source calls `uri`; none if it is the same.
    fn turned(&self, uri: &str) -> Option<String> {
        let id = &self.id;
        if self.native() == Some(uri) {
            return self.spelled.clone().filter(|spelled| spelled != uri);
        }
        if !self.is_shared {
            return None;
        }
        if let Some(page) = uri.strip_prefix(PAGES) {
            return Some(format!("{PAGES}{id}/{page}"));
        }
        let leads_back = match self.view.resource(uri) {
            Some(found) => found.source == self.source,
            // What is not listed may be there all the same. A page of the web is its reader's own.
            None => !uri.contains(':') || is_of_the_web(uri),
        };
        (!leads_back).then(|| format!("{QUALIFIED}{id}/{uri}"))
    }

    fn error(&self, error: Error) -> Error {
        let data = error
            .data()
            .and_then(|data| member(data.as_str(), "uri", |uri| self.uri(uri)));
        match data {
            Some(data) => error.with_data(RawJson::copy_of(&data)),
            None => error,
        }
    }

    fn native(&self) -> Option<&str> {
        match &self.operation {
            Operation::Resource { uri } => Some(uri),
            _ => None,
        }
    }
}

fn is_of_the_web(uri: &str) -> bool {
    let scheme = uri.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
    })
}

/// An object with one member changed; none if it stays.
pub(super) fn member(
    text: &str,
    key: &str,
    change: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let mut object = Object::parse(text).ok()?;
    let changed = change(object.get(key)?)?;
    object.set(key, changed);
    Some(object.write().as_str().to_owned())
}

/// A list with some items changed; none if all stay.
fn each(text: &str, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let items: Vec<&RawValue> = bounded_list(text, MOST_PARTS).ok()?;
    let changed: Vec<_> = items.iter().map(|item| change(item.get())).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = std::iter::zip(&items, &changed)
        .map(|(item, changed)| changed.as_deref().unwrap_or(item.get()));
    Some(format!("[{}]", items.collect::<Vec<_>>().join(",")))
}

/// Two changes, one after the other; none if neither changes anything.
fn both(
    text: &str,
    first: impl FnOnce(&str) -> Option<String>,
    second: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let changed = first(text);
    second(changed.as_deref().unwrap_or(text)).or(changed)
}
