//! The filter of a change stream (`subscriptions/listen`), as clients send it and servers echo it.

use std::collections::BTreeSet;

use tidegate_core::{ChangeFilter, ExtensionMembers, Object, RawJson, Result, bounded_list};

use super::params::invalid_params;

/// URIs or task ids in one filter. The number of subscriptions per client has a separate limit.
const MAX_FILTER_ENTRIES: usize = 10_000;

/// The members that the protocol defines.
mod members {
    pub(super) const TOOLS: &str = "toolsListChanged";
    pub(super) const PROMPTS: &str = "promptsListChanged";
    pub(super) const RESOURCES: &str = "resourcesListChanged";
    pub(super) const URIS: &str = "resourceSubscriptions";
    pub(super) const TASKS: &str = "taskIds";
    pub(super) const ALL: [&str; 5] = [TOOLS, PROMPTS, RESOURCES, URIS, TASKS];
}

/// Members of extensions in one filter.
const MAX_EXTENSION_MEMBERS: usize = 100;

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
        tools: flag(members::TOOLS)?,
        prompts: flag(members::PROMPTS)?,
        resources: flag(members::RESOURCES)?,
        elicitation_complete: false,
        extensions: false,
        uris: strings(members::URIS, "URIs")?,
        tasks: strings(members::TASKS, "ids")?,
        extension_members: extension_members(&notifications),
    })
}

/// The members of a filter that the protocol does not define.
pub(super) fn extension_members(notifications: &Object<'_>) -> ExtensionMembers {
    let unknown = notifications
        .iter()
        .filter(|(name, _)| !members::ALL.contains(name));
    let unknown = unknown.take(MAX_EXTENSION_MEMBERS);
    unknown
        .map(|(name, value)| (name.to_owned(), RawJson::copy_of(value)))
        .collect()
}

pub(super) fn encode_filter(filter: &ChangeFilter) -> String {
    let mut notifications = Object::default();
    let flags = [
        (filter.tools, members::TOOLS),
        (filter.prompts, members::PROMPTS),
        (filter.resources, members::RESOURCES),
    ];
    for (_, name) in flags.into_iter().filter(|(is_set, _)| *is_set) {
        notifications.set(name, "true");
    }
    let lists = [
        (&filter.uris, members::URIS),
        (&filter.tasks, members::TASKS),
    ];
    for (entries, name) in lists.into_iter().filter(|(list, _)| !list.is_empty()) {
        let entries: Vec<_> = entries.iter().map(String::as_str).collect();
        notifications.set(name, serde_json::Value::from(entries).to_string());
    }
    for (name, value) in &filter.extension_members {
        notifications.set(name, value.as_str());
    }
    notifications.write().as_str().to_owned()
}
