//! The filter of a change stream (`subscriptions/listen`), as clients send it and servers echo it.

use std::collections::BTreeSet;

use tidegate_core::{ChangeFilter, Object, Result, bounded_list};

use super::params::invalid_params;

/// URIs or task ids in one filter. The number of subscriptions per client has a separate limit.
const MAX_FILTER_ENTRIES: usize = 10_000;

pub(super) fn parse_filter(params: &Object<'_>) -> Result<ChangeFilter> {
    let notifications = params
        .get("notifications")
        .and_then(|text| Object::parse(text).ok())
        .ok_or_else(|| invalid_params("`notifications` must be an object"))?;
    let flag = |name: &str| match notifications.get(name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(invalid_params(&format!(
            "`notifications.{name}` must be true or false"
        ))),
    };
    let strings = |name: &str, content: &str| match notifications.get(name) {
        None => Ok(BTreeSet::new()),
        Some(text) => bounded_list::<String>(text, MAX_FILTER_ENTRIES)
            .map(BTreeSet::from_iter)
            .map_err(|_| {
                invalid_params(&format!(
                    "`notifications.{name}` must be a list of {content}"
                ))
            }),
    };
    Ok(ChangeFilter {
        tools: flag("toolsListChanged")?,
        prompts: flag("promptsListChanged")?,
        resources: flag("resourcesListChanged")?,
        elicitation_complete: false,
        extensions: false,
        uris: strings("resourceSubscriptions", "URIs")?,
        tasks: strings("taskIds", "ids")?,
    })
}

pub(super) fn encode_filter(filter: &ChangeFilter) -> String {
    let mut notifications = serde_json::Map::new();
    let flags = [
        (filter.tools, "toolsListChanged"),
        (filter.prompts, "promptsListChanged"),
        (filter.resources, "resourcesListChanged"),
    ];
    for (_, name) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        notifications.insert(name.to_owned(), true.into());
    }
    let lists = [
        (&filter.uris, "resourceSubscriptions"),
        (&filter.tasks, "taskIds"),
    ];
    for (entries, name) in lists.into_iter().filter(|(list, _)| !list.is_empty()) {
        let entries: Vec<_> = entries.iter().map(String::as_str).collect();
        notifications.insert(name.to_owned(), entries.into());
    }
    serde_json::Value::from(notifications).to_string()
}
