//! Conflicts between the names of sources.

use super::template_index::RefusedTemplate;
use crate::{List, SourceId, truncate_for_message};

/// A conflict between the names of sources, and how it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NameConflict {
    /// Two sources have the same URI or name; the second is listed under another.
    Collision {
        list: List,
        name: String,
        kept_by: SourceId,
        lost_by: SourceId,
        listed_as: String,
    },
    /// A source lists a URI that another source owns, or that is reserved for built-in sources. It is
    /// not listed.
    Claim {
        list: List,
        uri: String,
        owner: Option<SourceId>,
        claimed_by: SourceId,
    },
    /// A source has a tool or prompt whose name belongs to another source. It is listed under another
    /// name.
    ReservedName {
        list: List,
        name: String,
        owner: SourceId,
        claimed_by: SourceId,
        listed_as: String,
    },
    /// A source lists the same name twice. The second is not listed.
    Duplicate {
        list: List,
        name: String,
        source: SourceId,
    },
    /// A source lists a template that URIs cannot be matched against. It is not listed.
    RefusedTemplate {
        template: String,
        reason: RefusedTemplate,
        source: SourceId,
    },
}

impl NameConflict {
    pub(crate) fn log(&self) {
        match self {
            Self::Collision {
                list,
                name,
                kept_by,
                lost_by,
                listed_as,
            } => tracing::info!(
                list = list.member(),
                name = truncate_for_message(name),
                %kept_by,
                source = %lost_by,
                listed_as = truncate_for_message(listed_as),
                "two sources have the same name"
            ),
            Self::Claim {
                uri,
                owner,
                claimed_by,
                ..
            } => tracing::warn!(
                uri = truncate_for_message(uri),
                owner = owner.as_ref().map_or("built-in sources", SourceId::as_str),
                source = %claimed_by,
                "source claims a URI that another source owns; it is not listed"
            ),
            Self::ReservedName {
                list,
                name,
                owner,
                claimed_by,
                listed_as,
            } => tracing::warn!(
                list = list.member(),
                name = truncate_for_message(name),
                %owner,
                source = %claimed_by,
                listed_as = truncate_for_message(listed_as),
                "source claims a name that another source owns"
            ),
            Self::Duplicate { list, name, source } => tracing::warn!(
                list = list.member(),
                name = truncate_for_message(name),
                %source,
                "source lists a name twice; the second is not listed"
            ),
            Self::RefusedTemplate {
                template,
                reason,
                source,
            } => tracing::warn!(
                template = truncate_for_message(template),
                %source,
                %reason,
                "URI template refused; it is not listed"
            ),
        }
    }

    /// What an administrator should fix, if anything. A collision is already resolved.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Self::Claim {
                uri,
                owner,
                claimed_by,
                ..
            } => Some(format!(
                "`{claimed_by}` lists `{}`, which {}; it is not listed",
                truncate_for_message(uri),
                match owner {
                    Some(owner) => format!("belongs to `{owner}`"),
                    None => "is reserved for built-in sources".to_owned(),
                }
            )),
            Self::ReservedName {
                list,
                name,
                owner,
                claimed_by,
                listed_as,
            } => Some(format!(
                "`{claimed_by}` has a {} `{}`, a name of `{owner}`; it is listed as `{}`",
                list.singular(),
                truncate_for_message(name),
                truncate_for_message(listed_as)
            )),
            Self::RefusedTemplate {
                template,
                reason,
                source,
            } => Some(format!(
                "the template `{}` of `{source}` is not listed: {reason}",
                truncate_for_message(template)
            )),
            Self::Collision { .. } | Self::Duplicate { .. } => None,
        }
    }

    /// The list and the source of an entry that is not listed because of the conflict.
    pub(crate) fn withheld(&self) -> Option<(List, &SourceId)> {
        match self {
            Self::Claim {
                list, claimed_by, ..
            } => Some((*list, claimed_by)),
            Self::Duplicate { list, source, .. } => Some((*list, source)),
            Self::RefusedTemplate { source, .. } => Some((List::Templates, source)),
            Self::Collision { .. } | Self::ReservedName { .. } => None,
        }
    }
}
