//! Which changes a client subscribes to.

use std::collections::{BTreeMap, BTreeSet};

use crate::RawJson;

/// The members of a filter that extensions define, by name.
pub type ExtensionMembers = BTreeMap<String, RawJson>;

/// Which changes a client subscribes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// Completed URL elicitations.
    pub elicitation_complete: bool,
    /// All notifications of extensions, at the endpoint of one source.
    pub extensions: bool,
    /// Resources, each with everything below it.
    pub uris: BTreeSet<String>,
    /// Tasks, by the ids that the client knows.
    pub tasks: BTreeSet<String>,
    /// Members that the gateway does not know: an extension defines them.
    pub extension_members: ExtensionMembers,
}

impl ChangeFilter {
    /// What a session receives without subscribing: the lists, completed elicitations, and notifications
    /// of extensions.
    pub fn all_lists() -> Self {
        Self {
            tools: true,
            prompts: true,
            resources: true,
            elicitation_complete: true,
            extensions: true,
            ..Self::default()
        }
    }

    /// One resource, and no lists.
    pub fn for_uri(uri: &str) -> Self {
        Self {
            uris: BTreeSet::from([uri.to_owned()]),
            ..Self::default()
        }
    }
}
