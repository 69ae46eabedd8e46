//! Finds the counters for reads of `plugin://` resources, by the names under which built-in sources
//! declare them.
//!
//! Text from a client never becomes a label: undeclared resources are counted as `unknown`.

use std::collections::HashMap;
use std::sync::Arc;

use tidegate_core::{
    Call, Caller, ClientContext, List, Operation, Source, SourceId, UriTemplate, Viewer,
};

use super::metrics::{CallMetrics, ReadCounters};

const PLUGIN_SCHEME: &str = "plugin://";

/// The label of resources that no source declares.
const UNKNOWN_RESOURCE: &str = "unknown";

/// The declared `plugin://` resources of all sources.
pub(super) struct PluginReads {
    sources: HashMap<SourceId, SourceReads>,
    /// For URIs that no source owns.
    unknown: Arc<ReadCounters>,
}

struct SourceReads {
    /// The prefix of the source's URIs.
    prefix: String,
    by_uri: HashMap<String, Arc<ReadCounters>>,
    /// The most specific template first.
    templates: Vec<(UriTemplate, Arc<ReadCounters>)>,
    undeclared: Arc<ReadCounters>,
}

impl PluginReads {
    /// Reads the names from the current catalogs, as an administrator sees them.
    pub(super) fn new(metrics: &CallMetrics, sources: &[(SourceId, Arc<dyn Source>)]) -> Self {
        let sources = sources.iter().filter_map(|(id, source)| {
            let reads = SourceReads::new(metrics, id, source.as_ref())?;
            Some((id.clone(), reads))
        });
        Self {
            sources: sources.collect(),
            unknown: metrics.read_counters(UNKNOWN_RESOURCE, UNKNOWN_RESOURCE),
        }
    }

    /// The counters and the URI of a call, if it reads a `plugin://` resource.
    pub(super) fn find<'a>(&self, call: &'a Call) -> Option<(&Arc<ReadCounters>, &'a str)> {
        let Operation::Resource { uri } = &call.operation else {
            return None;
        };
        if !uri.starts_with(PLUGIN_SCHEME) {
            return None;
        }
        let counters = match self.sources.get(&call.source) {
            Some(source) if uri.starts_with(&source.prefix) => source.find(uri),
            Some(_) => &self.unknown,
            // A resource of a remote server that uses the same scheme.
            None if call.source != SourceId::gateway() => return None,
            None => &self.unknown,
        };
        Some((counters, uri))
    }
}

impl SourceReads {
    fn new(metrics: &CallMetrics, id: &SourceId, source: &dyn Source) -> Option<Self> {
        let catalog = source.catalog(&Viewer {
            caller: &Caller::local(),
            client: &ClientContext::default(),
        });
        let authority = format!("{PLUGIN_SCHEME}{id}");
        if !catalog.owned.contains(&authority) {
            return None;
        }
        let prefix = authority + "/";
        let declared = |list: List| {
            catalog.list(list).iter().filter_map(|entry| {
                let name = entry.key.strip_prefix(&prefix)?;
                Some((entry.key.as_str(), metrics.read_counters(id.as_str(), name)))
            })
        };
        let mut templates: Vec<_> = declared(List::Templates)
            .filter_map(|(text, counters)| Some((UriTemplate::parse(text).ok()?, counters)))
            .collect();
        templates.sort_by_key(|(template, _)| std::cmp::Reverse(template.literal_len()));
        Some(Self {
            by_uri: declared(List::Resources)
                .map(|(uri, counters)| (uri.to_owned(), counters))
                .collect(),
            templates,
            prefix,
            undeclared: metrics.read_counters(id.as_str(), UNKNOWN_RESOURCE),
        })
    }

    fn find(&self, uri: &str) -> &Arc<ReadCounters> {
        let by_template = || {
            let mut templates = self.templates.iter();
            templates.find(|(template, _)| template.matches(uri))
        };
        let by_uri = self.by_uri.get(uri);
        by_uri
            .or_else(|| by_template().map(|(_, counters)| counters))
            .unwrap_or(&self.undeclared)
    }
}
