//! What a request asks for: the operations of the protocol, without their method names.

use crate::{ChangeFilter, Code, Error, List, Object, Result};

/// What a request asks for, and the name of its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// An operation that the gateway serves itself.
    Gateway(GatewayOperation),
    Tool {
        name: String,
    },
    Prompt {
        name: String,
    },
    Resource {
        uri: String,
    },
    Completion {
        reference: Reference,
    },
    Task {
        operation: TaskOperation,
        id: String,
    },
    Skill(SkillOperation),
    /// A method of an extension that the gateway does not know. It reaches the source unchanged.
    Extension {
        method: String,
    },
}

impl Operation {
    /// Checks that the arguments of a tool or prompt, if there are any, are an object. Null means none:
    /// some clients send it.
    pub fn check(&self, params: &Object<'_>) -> Result<()> {
        let takes_arguments = matches!(self, Self::Tool { .. } | Self::Prompt { .. });
        match params.get("arguments").filter(|_| takes_arguments) {
            Some(arguments) if !arguments.starts_with('{') && arguments != "null" => Err(
                Error::client(Code::InvalidParams, "`arguments` must be an object"),
            ),
            _ => Ok(()),
        }
    }
}

/// What the gateway serves itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayOperation {
    Ping,
    /// The capabilities and instructions of the endpoint.
    Discover,
    List {
        list: List,
        cursor: Option<String>,
    },
    /// A subscription to changes, until either side ends it.
    Listen(ChangeFilter),
}

/// An operation on a task: a call that continues after its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOperation {
    Get,
    /// Continues a task with the client's answers.
    Update,
    Cancel,
}

/// An operation on the skills of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillOperation {
    List,
    /// The entry of one skill, by the URI of its `SKILL.md`.
    Get {
        uri: String,
    },
    /// The direct children of a directory resource.
    ReadDirectory {
        uri: String,
    },
}

impl SkillOperation {
    /// The URI that the operation is about.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::List => None,
            Self::Get { uri } | Self::ReadDirectory { uri } => Some(uri),
        }
    }

    /// The same operation on another URI.
    #[must_use]
    pub(crate) fn with_uri(&self, uri: String) -> Self {
        match self {
            Self::List => Self::List,
            Self::Get { .. } => Self::Get { uri },
            Self::ReadDirectory { .. } => Self::ReadDirectory { uri },
        }
    }
}

/// What a completion is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    Prompt(String),
    /// A resource template, or a URI.
    Resource(String),
}
