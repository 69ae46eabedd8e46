//! Rewrites replies for the client: URIs are replaced by URIs that resolve to the same source, and
//! task ids are sealed. Replies that need no change are not copied.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::task_ids::TaskIds;
use crate::json::map_member;
use crate::names::{NameMap, UI_SCHEME, with_mapped_pages};
use crate::{
    Error, Object, Operation, Outcome, RawJson, Reply, Result, SkillOperation, bounded_list,
};

/// Longer arrays are not rewritten.
const MAX_REWRITTEN_ITEMS: usize = 100_000;

/// Rewrites the reply of one call.
pub(super) struct ResponseRewriter {
    pub(super) names: Arc<NameMap>,
    /// The source that replies, by its number in `names`.
    pub(super) source: usize,
    /// The operation, under the source's native names.
    pub(super) operation: Operation,
    /// The URI as the client wrote it, if it asked for a resource.
    pub(super) requested_uri: Option<String>,
    /// For replies that may contain the id of a task.
    pub(super) task_ids: Option<TaskIds>,
}

impl ResponseRewriter {
    pub(super) fn rewrite(self, reply: Result<Reply>) -> Result<Reply> {
        let keeps_uris = !self.names.is_merged() && self.requested_uri.as_deref() == self.native();
        if keeps_uris && self.task_ids.is_none() {
            return reply;
        }
        Reply::map_result(reply, move |result| {
            let result = match result {
                result if keeps_uris => result,
                Ok(outcome) => Ok(self.rewrite_outcome(outcome)),
                Err(error) => Err(self.rewrite_error(error)),
            };
            match &self.task_ids {
                Some(ids) => result.and_then(|outcome| ids.seal_in(outcome)),
                None => result,
            }
        })
    }

    fn rewrite_outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Complete { result, hint } => Outcome::Complete {
                result: self.rewrite_result(&result).unwrap_or(result),
                hint,
            },
            Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => outcome,
        }
    }

    /// The result with rewritten URIs; `None` if nothing changes.
    pub(super) fn rewrite_result(&self, result: &RawJson) -> Option<RawJson> {
        let text = result.as_str();
        if !text.contains("\"uri\"") && !text.contains(UI_SCHEME) {
            return None;
        }
        let rewritten = match &self.operation {
            Operation::Tool { .. } => self.tool_result(text),
            Operation::Task { .. } => map_member(text, "result", |result| self.tool_result(result)),
            Operation::Prompt { .. } => map_member(text, "messages", |messages| {
                map_items(messages, |message| {
                    map_member(message, "content", |content| self.content(content))
                })
            }),
            Operation::Resource { .. } => map_member(text, "contents", |contents| {
                map_items(contents, |item| {
                    map_member(item, "uri", |uri| self.uri(uri))
                })
            }),
            Operation::Skill(SkillOperation::Get { .. }) => {
                map_member(text, "skill", |skill| self.skill(skill))
            }
            Operation::Skill(SkillOperation::ReadDirectory { .. }) => {
                map_member(text, "resources", |children| {
                    map_items(children, |child| {
                        map_member(child, "uri", |uri| self.child_uri(uri))
                    })
                })
            }
            Operation::Skill(SkillOperation::List)
            | Operation::Completion { .. }
            | Operation::Gateway(_)
            | Operation::Extension { .. } => None,
        };
        rewritten.map(|text| RawJson::copy_of(&text))
    }

    fn tool_result(&self, text: &str) -> Option<String> {
        let content = |text: &str| map_member(text, "content", |content| self.content(content));
        map_both(text, content, |text| self.page(text))
    }

    /// One content block, or an array of them.
    fn content(&self, text: &str) -> Option<String> {
        match text.starts_with('[') {
            true => map_items(text, |block| self.content_block(block)),
            false => self.content_block(text),
        }
    }

    /// A resource link, or an embedded resource.
    fn content_block(&self, text: &str) -> Option<String> {
        let link = |text: &str| map_member(text, "uri", |uri| self.uri(uri));
        let embedded = |text: &str| map_member(text, "resource", |resource| link(resource));
        map_both(text, link, embedded)
    }

    /// The pages that a result names.
    fn page(&self, text: &str) -> Option<String> {
        map_member(text, "_meta", |meta| {
            with_mapped_pages(meta, |uri| self.client_uri(uri))
        })
    }

    /// The entry of a skill.
    pub(super) fn skill(&self, text: &str) -> Option<String> {
        let entry = Object::parse(text).ok()?;
        let uri = entry.string("uri")?;
        let files = entry.get("resources").unwrap_or("[]");
        let files: Vec<SkillFile> = bounded_list(files, MAX_REWRITTEN_ITEMS).unwrap_or_default();
        let requested = self.requested_uri.as_deref().unwrap_or_default();
        let prefix = match requested
            .strip_suffix(uri.as_str())
            .filter(|it| !it.is_empty())
        {
            Some(prefix) => prefix.to_owned(),
            None => {
                let files = files.iter().map(|file| file.uri.as_str());
                self.names.skill_prefix(self.source, &uri, files)?
            }
        };
        let prefixed = |uri: &str| {
            let uri: String = serde_json::from_str(uri).ok()?;
            Some(
                RawJson::string(&format!("{prefix}{uri}"))
                    .as_str()
                    .to_owned(),
            )
        };
        let with_uri = |text: &str| map_member(text, "uri", prefixed);
        let files = |text: &str| map_member(text, "resources", |files| map_items(files, with_uri));
        map_both(text, with_uri, files)
    }

    /// A URI, as JSON.
    fn uri(&self, json: &str) -> Option<String> {
        let uri: String = serde_json::from_str(json).ok()?;
        let rewritten = self.client_uri(&uri)?;
        Some(RawJson::string(&rewritten).as_str().to_owned())
    }

    /// The URI of a child of the directory that is read, as JSON. It stays below the directory.
    fn child_uri(&self, json: &str) -> Option<String> {
        let uri: String = serde_json::from_str(json).ok()?;
        let requested = self.requested_uri.as_deref()?;
        let below = uri.strip_prefix(self.native()?);
        let rewritten = match below.filter(|_| Some(requested) != self.native()) {
            Some(below) => format!("{requested}{below}"),
            None => self.client_uri(&uri)?,
        };
        Some(RawJson::string(&rewritten).as_str().to_owned())
    }

    /// The client's URI for the source's `uri`; `None` if it is the same.
    fn client_uri(&self, uri: &str) -> Option<String> {
        if self.native() == Some(uri) {
            return self
                .requested_uri
                .clone()
                .filter(|requested| requested != uri);
        }
        self.names.client_uri(self.source, uri)
    }

    fn rewrite_error(&self, error: Error) -> Error {
        let data = error.data();
        let data = data.and_then(|data| map_member(data.as_str(), "uri", |uri| self.uri(uri)));
        match data {
            Some(data) => error.with_data(RawJson::copy_of(&data)),
            None => error,
        }
    }

    /// The URI of the resource or skill that is read, at the source.
    fn native(&self) -> Option<&str> {
        match &self.operation {
            Operation::Resource { uri } => Some(uri),
            Operation::Skill(operation) => operation.uri(),
            _ => None,
        }
    }
}

/// A file in the entry of a skill.
#[derive(Deserialize)]
struct SkillFile {
    uri: String,
}

/// An array with some items changed; `None` if nothing changes.
fn map_items(text: &str, map: impl Fn(&str) -> Option<String>) -> Option<String> {
    let items: Vec<&RawValue> = bounded_list(text, MAX_REWRITTEN_ITEMS).ok()?;
    let changed: Vec<_> = items.iter().map(|item| map(item.get())).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = std::iter::zip(&items, &changed)
        .map(|(item, changed)| changed.as_deref().unwrap_or(item.get()));
    Some(format!("[{}]", items.collect::<Vec<_>>().join(",")))
}

/// Two changes, one after the other; `None` if neither changes anything.
fn map_both(
    text: &str,
    first: impl FnOnce(&str) -> Option<String>,
    second: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let changed = first(text);
    second(changed.as_deref().unwrap_or(text)).or(changed)
}
