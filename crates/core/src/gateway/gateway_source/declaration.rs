//! The capabilities of an endpoint. The endpoint of one source declares what the source declares; the
//! endpoint of all sources declares the gateway's own capabilities, and the extensions that it can merge.

use std::borrow::Cow;

use super::super::task_ids::TASKS_EXTENSION;
use super::super::view::View;
use crate::extensions::{APPS, SKILLS};
use crate::{Features, Object, RawJson};

/// The extensions that the endpoint of all sources declares if a source does.
const MERGED: [&str; 3] = [APPS, SKILLS, TASKS_EXTENSION];

/// The result of discover: capabilities, instructions, and all other members that a source declares.
pub(super) fn declare(view: &View, instructions: Option<&str>) -> RawJson {
    let sources = view.names.sources();
    let mut declarations = sources
        .iter()
        .map(|source| source.catalog.declaration.clone());
    let declaration = match view.names.is_merged() {
        true => None,
        false => declarations.next().flatten(),
    };
    let mut result = declaration.as_ref().and_then(RawJson::object);
    let result = result.get_or_insert_default();
    let declared = result.remove("capabilities").unwrap_or(Cow::Borrowed("{}"));
    let mut capabilities = Object::parse(&declared).unwrap_or_default();
    set_features(&mut capabilities, view.features);
    let extensions = match view.names.is_merged() {
        true => merged_extensions(declarations.flatten(), view.features),
        false => own_extensions(capabilities.get("extensions"), view.features),
    };
    match extensions {
        Some(extensions) => capabilities.set("extensions", extensions),
        None => drop(capabilities.remove("extensions")),
    }
    result.set("capabilities", capabilities.write().as_str().to_owned());
    if let Some(instructions) = instructions {
        let instructions = RawJson::string(instructions).as_str().to_owned();
        result.set("instructions", instructions);
    }
    result.write()
}

/// Sets the capabilities that the gateway knows. Members that it does not know are kept.
fn set_features(capabilities: &mut Object<'_>, features: Features) {
    let list_changed = ("listChanged", "true");
    let mut set = |is_offered: bool, name: &'static str, members: &[(&'static str, &str)]| {
        if !is_offered {
            drop(capabilities.remove(name));
            return;
        }
        let declared = capabilities.get(name).unwrap_or("{}").to_owned();
        let mut capability = Object::parse(&declared).unwrap_or_default();
        for (member, value) in members {
            capability.set(member, (*value).to_owned());
        }
        let capability = capability.write().as_str().to_owned();
        capabilities.set(name, capability);
    };
    set(features.tools, "tools", &[list_changed]);
    set(features.prompts, "prompts", &[list_changed]);
    // A source that cannot be subscribed to may declare so, or declare nothing.
    let resources = [list_changed, ("subscribe", "true")];
    let members = if features.subscribe { 2 } else { 1 };
    set(features.resources, "resources", &resources[..members]);
    set(features.completions, "completions", &[]);
    set(features.logging, "logging", &[]);
}

/// The extensions of one source. Tasks are offered only if the gateway relays them.
fn own_extensions(declared: Option<&str>, features: Features) -> Option<String> {
    let declared = declared.map(str::to_owned);
    let mut extensions = match &declared {
        Some(text) => Object::parse(text).ok()?,
        None if features.tasks => Object::default(),
        None => return None,
    };
    let has_tasks = extensions.get(TASKS_EXTENSION).is_some();
    match features.tasks {
        true if !has_tasks => extensions.set(TASKS_EXTENSION, "{}"),
        false if has_tasks => drop(extensions.remove(TASKS_EXTENSION)),
        _ => {}
    }
    let is_emptied = has_tasks && extensions.is_empty();
    (!is_emptied).then(|| extensions.write().as_str().to_owned())
}

/// The union of the extensions of all sources that the gateway can merge.
fn merged_extensions(
    declarations: impl Iterator<Item = RawJson>,
    features: Features,
) -> Option<String> {
    let mut merged = Object::default();
    for declaration in declarations {
        let extensions = extensions_of(&declaration);
        let extensions = extensions.as_deref();
        let Some(extensions) = extensions.and_then(|text| Object::parse(text).ok()) else {
            continue;
        };
        for extension in MERGED {
            if let Some(settings) = extensions.get(extension) {
                let settings = merge_settings(merged.get(extension), settings);
                merged.set(extension, settings);
            }
        }
    }
    match features.tasks {
        true => merged.set(TASKS_EXTENSION, "{}"),
        false => drop(merged.remove(TASKS_EXTENSION)),
    }
    (!merged.is_empty()).then(|| merged.write().as_str().to_owned())
}

fn extensions_of(declaration: &RawJson) -> Option<String> {
    let members = declaration.object()?;
    let capabilities = Object::parse(members.get("capabilities")?).ok()?;
    capabilities.get("extensions").map(str::to_owned)
}

/// The settings of an extension that two sources declare. A setting that one of them enables is
/// enabled, because requests go to the source that supports them; otherwise the first one counts.
fn merge_settings(first: Option<&str>, second: &str) -> String {
    let Some(mut merged) = first.and_then(|first| Object::parse(first).ok()) else {
        return second.to_owned();
    };
    let second = Object::parse(second).unwrap_or_default();
    for (setting, value) in second.iter() {
        if value == "true" || merged.get(setting).is_none() {
            merged.set(setting, value.to_owned());
        }
    }
    merged.write().as_str().to_owned()
}
