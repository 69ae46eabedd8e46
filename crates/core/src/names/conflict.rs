//! Conflicts between the names of sources.

use super::template_index::RefusedTemplate;
use crate::{List, SourceId, truncate_for_message};

/// A conflict between the names of sources, and how it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NameConflict {
    /// Two sources have the same URI or name; the second is listed under another.
    Collision(RenamedEntry),
    /// A source has a tool or prompt whose name belongs to another source. It is listed under another
    /// name.
    ReservedName(RenamedEntry),
    /// A source lists a URI that another source owns, or that is reserved for built-in sources. It is
    /// not listed.
    Claim {
        list: List,
        uri: String,
        owner: Option<SourceId>,
        claimed_by: SourceId,
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

/// An entry that is listed under another name, because another source has its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RenamedEntry {
    pub(super) list: List,
    pub(super) name: String,
    /// The source that has the name.
    pub(super) owner: SourceId,
    /// The source of the entry.
    pub(super) source: SourceId,
    pub(super) listed_as: String,
}

impl NameConflict {
    pub(crate) fn log(&self) {
        match self {
            Self::Collision(entry) => tracing::info!(
                list = entry.list.member(),
                name = truncate_for_message(&entry.name),
                kept_by = %entry.owner,
                source = %entry.source,
                listed_as = truncate_for_message(&entry.listed_as),
                "two sources have the same name or URI"
            ),
            Self::ReservedName(entry) => tracing::warn!(
                list = entry.list.member(),
                name = truncate_for_message(&entry.name),
                owner = %entry.owner,
                source = %entry.source,
                listed_as = truncate_for_message(&entry.listed_as),
                "source claims a name that another source owns"
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
            Self::Collision(_) => None,
            Self::ReservedName(entry) => Some(format!(
                "`{}` has a {} `{}`, a name of `{}`; it is listed as `{}`",
                entry.source,
                entry.list.singular(),
                truncate_for_message(&entry.name),
                entry.owner,
                truncate_for_message(&entry.listed_as)
            )),
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
            Self::Duplicate { list, name, source } => Some(format!(
                "`{source}` lists the {} `{}` twice; the second is not listed",
                list.singular(),
                truncate_for_message(name)
            )),
            Self::RefusedTemplate {
                template,
                reason,
                source,
            } => Some(format!(
                "the template `{}` of `{source}` is not listed: {reason}",
                truncate_for_message(template)
            )),
        }
    }

    /// The entry that is not listed because of the conflict, if there is one.
    pub(crate) fn withheld(&self) -> Option<WithheldEntry<'_>> {
        let (list, source, reason) = match self {
            Self::Claim {
                list, claimed_by, ..
            } => (*list, claimed_by, "the URI belongs to another source"),
            Self::Duplicate { list, source, .. } => (*list, source, "the name occurs twice"),
            Self::RefusedTemplate { source, .. } => {
                let reason = "the template is invalid or too expensive to match";
                (List::Templates, source, reason)
            }
            Self::Collision(_) | Self::ReservedName(_) => return None,
        };
        Some(WithheldEntry {
            list,
            source,
            reason,
        })
    }
}

/// An entry that is not listed.
pub(crate) struct WithheldEntry<'a> {
    pub(crate) list: List,
    pub(crate) source: &'a SourceId,
    pub(crate) reason: &'static str,
}
