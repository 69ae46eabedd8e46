//! The resources of built-in sources under `plugin://`, by the names they are declared under.
//!
//! What a client makes up has no name here: it is counted, but never under its own words.

use std::collections::HashMap;
use std::sync::Arc;

use tidegate_core::{
    Call, Caller, ClientContext, List, Operation, Source, SourceId, UriTemplate, Viewer,
};

use super::metrics::{CallMetrics, Statuses};

const SCHEME: &str = "plugin://";

/// What stands for a name that nobody has declared.
const UNKNOWN: &str = "unknown";

/// The resources that are declared, of each source that has such.
pub(super) struct Reads {
    plugins: HashMap<SourceId, Plugin>,
    nowhere: Arc<Read>,
}

struct Plugin {
    /// How its URIs begin.
    home: String,
    by_uri: HashMap<String, Arc<Read>>,
    /// The one that says most first.
    templates: Vec<(UriTemplate, Arc<Read>)>,
    undeclared: Arc<Read>,
}

/// One resource, or all that a template stands for.
pub(super) struct Read {
    pub(super) plugin: String,
    pub(super) resource: String,
    pub(super) statuses: Statuses,
}

impl Reads {
    /// Takes the names from what the sources offer now to whoever may see all of it.
    pub(super) fn new(figures: &CallMetrics, sources: &[(SourceId, Arc<dyn Source>)]) -> Self {
        let plugins = sources.iter().filter_map(|(id, source)| {
            let plugin = Plugin::new(figures, id, source.as_ref())?;
            Some((id.clone(), plugin))
        });
        Self {
            plugins: plugins.collect(),
            nowhere: figures.read(UNKNOWN, UNKNOWN),
        }
    }

    /// The resource that a call reads, where it reads one of these.
    pub(super) fn of<'a>(&self, call: &'a Call) -> Option<(&Arc<Read>, &'a str)> {
        let Operation::Resource { uri } = &call.operation else {
            return None;
        };
        if !uri.starts_with(SCHEME) {
            return None;
        }
        let read = match self.plugins.get(&call.source) {
            Some(plugin) if uri.starts_with(&plugin.home) => plugin.of(uri),
            Some(_) => &self.nowhere,
            // A server's own, which only looks like one of ours.
            None if call.source != SourceId::gateway() => return None,
            None => &self.nowhere,
        };
        Some((read, uri))
    }
}

impl Plugin {
    fn new(figures: &CallMetrics, id: &SourceId, source: &dyn Source) -> Option<Self> {
        let catalog = source.catalog(&Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        });
        let home = format!("{SCHEME}{id}");
        if !catalog.owned.contains(&home) {
            return None;
        }
        let home = home + "/";
        let declared = |list: List| {
            catalog.list(list).iter().filter_map(|entry| {
                let name = entry.key.strip_prefix(&home)?;
                Some((entry.key.as_str(), figures.read(id.as_str(), name)))
            })
        };
        let mut templates: Vec<_> = declared(List::Templates)
            .filter_map(|(text, read)| Some((UriTemplate::parse(text).ok()?, read)))
            .collect();
        templates.sort_by_key(|(template, _)| std::cmp::Reverse(template.literal_len()));
        Some(Self {
            by_uri: declared(List::Resources)
                .map(|(uri, read)| (uri.to_owned(), read))
                .collect(),
            templates,
            home,
            undeclared: figures.read(id.as_str(), UNKNOWN),
        })
    }

    fn of(&self, uri: &str) -> &Arc<Read> {
        let expanded = || {
            let mut templates = self.templates.iter();
            templates.find(|(template, _)| template.matches(uri))
        };
        let read = self.by_uri.get(uri);
        read.or_else(|| expanded().map(|(_, read)| read))
            .unwrap_or(&self.undeclared)
    }
}
