//! What a client asks, after its revision has been taken off: one shape for all of them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Caller, Code, CorrelationId, Error, Object, RawJson, Result, SourceId, Viewer};

/// One request of one caller, complete in itself.
#[derive(Debug)]
pub struct Request {
    pub correlation: CorrelationId,
    pub caller: Arc<Caller>,
    pub scope: Scope,
    /// The method's name on the wire, for logs and metrics alone.
    pub label: &'static str,
    pub client: ClientContext,
    pub operation: Operation,
    /// The parameters as the client sent them.
    pub params: RawJson,
    /// Whether it goes on with a request that was answered with a question.
    pub is_continuation: bool,
    /// What must hold of the tool that is called.
    pub precondition: Option<Precondition>,
}

impl Request {
    /// The same request with other params, which go on where this one was answered with a question.
    #[must_use]
    pub fn next_round(&self, params: RawJson) -> Self {
        Self {
            correlation: self.correlation,
            caller: Arc::clone(&self.caller),
            scope: self.scope.clone(),
            label: self.label,
            client: self.client.clone(),
            operation: self.operation.clone(),
            params,
            is_continuation: true,
            precondition: None,
        }
    }

    pub(crate) fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: &self.caller,
            client: &self.client,
        }
    }
}

/// A check that needs the definition of the tool a request turns out to be for.
pub struct Precondition(Box<Check>);

type Check = dyn FnOnce(&RawJson) -> Result<()> + Send + Sync;

impl Precondition {
    pub fn new(check: impl FnOnce(&RawJson) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Box::new(check))
    }

    pub(crate) fn check(self, definition: &RawJson) -> Result<()> {
        (self.0)(definition)
    }
}

impl fmt::Debug for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Precondition")
    }
}

/// Which part of the gateway the client talks to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everything, under names that say the source.
    All,
    /// One source alone, under its native names.
    Source(SourceId),
}

/// What the client says about itself for this request.
#[derive(Clone, Debug)]
pub struct ClientContext {
    /// Whether the client speaks without sessions. A source that can do both is spoken to likewise.
    pub stateless: bool,
    /// The session that the call belongs to, if it has one.
    pub affinity: Option<AffinityKey>,
    /// The client's capabilities, as it declared them.
    pub capabilities: RawJson,
    /// The client's name and version, as it declared them. Unverified.
    pub client_info: Option<RawJson>,
    /// The least severe log message it wants; none means no log messages.
    pub log_level: Option<LogLevel>,
    /// The token under which it wants progress, with its JSON type.
    pub progress: Option<RawJson>,
}

impl ClientContext {
    /// Those under which the gateway itself looks at a source, whichever way it speaks there.
    pub fn of_gateway() -> Self {
        Self {
            stateless: true,
            ..Self::default()
        }
    }
}

impl Default for ClientContext {
    fn default() -> Self {
        Self {
            stateless: false,
            affinity: None,
            capabilities: RawJson::empty_object(),
            client_info: None,
            log_level: None,
            progress: None,
        }
    }
}

/// An opaque key: calls with the same key belong to one client's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AffinityKey(u64);

impl AffinityKey {
    /// A key that no other session in this process has.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What is asked, and of what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Something only the gateway can answer.
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
    /// Something about a call that goes on after its answer.
    Task {
        operation: TaskOperation,
        id: String,
    },
}

impl Operation {
    /// Whether it can be asked with these parameters: what a tool or a prompt is given has names.
    pub fn check(&self, params: &Object<'_>) -> Result<()> {
        let takes_arguments = matches!(self, Self::Tool { .. } | Self::Prompt { .. });
        match params.get("arguments").filter(|_| takes_arguments) {
            Some(arguments) if !arguments.starts_with('{') => Err(Error::client(
                Code::InvalidParams,
                "`arguments` must be an object",
            )),
            _ => Ok(()),
        }
    }
}

/// What is asked about a call that goes on after its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOperation {
    /// How it is.
    Get,
    /// To go on with these answers.
    Update,
    /// To end it.
    Cancel,
}

/// What the gateway answers for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayOperation {
    Ping,
    /// What can be had here.
    Discover,
    List {
        list: List,
        cursor: Option<String>,
    },
    /// A stream of changes, until one side ends it.
    Listen(ChangeFilter),
}

/// The four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The member of the result that holds the entries.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// What one of them is to a person.
    pub fn singular(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "resource template",
        }
    }
}

/// What a completion is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    Prompt(String),
    /// A template's text, or a URI.
    Resource(String),
}

/// Which changes a client wants to hear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
    /// What users were sent to do elsewhere.
    pub elicitation_complete: bool,
    pub uris: BTreeSet<String>,
    /// Calls that go on after their answer, by the ids that the client was given.
    pub tasks: BTreeSet<String>,
}

impl ChangeFilter {
    /// Everything that a session hears of without asking for it: all three lists, what users did
    /// elsewhere, and no resource.
    pub fn all_lists() -> Self {
        Self {
            tools: true,
            prompts: true,
            resources: true,
            elicitation_complete: true,
            ..Self::default()
        }
    }

    /// One resource, and no list.
    pub fn for_uri(uri: &str) -> Self {
        Self {
            uris: BTreeSet::from([uri.to_owned()]),
            ..Self::default()
        }
    }
}

/// How severe a log message is, from `debug` up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or(UnknownLevel)
    }
}

/// Not one of the eight levels.
#[derive(Debug)]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the level must be one of ")?;
        for (index, level) in LogLevel::ALL.into_iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(level.as_str())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1.25: eight levels, in this order, in lower case.
    #[test]
    fn log_levels_are_ordered() {
        let mut sorted = LogLevel::ALL;
        sorted.sort();
        assert_eq!(sorted, LogLevel::ALL);
        for level in LogLevel::ALL {
            assert_eq!(level.as_str().parse::<LogLevel>().unwrap(), level);
        }
        assert!("Debug".parse::<LogLevel>().is_err());
    }
}
