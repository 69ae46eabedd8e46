//! The table of methods: the only place where a method is a string. One row says what it is called,
//! who sends it, since when and until when, and by which member of its params it is addressed.

use super::Revision;
use Revision::{V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

/// Who sends a method, and whether it wants an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From a client; wants an answer.
    Request,
    /// From a client; wants none.
    Notification,
    /// From us to a client; wants none.
    Notice,
    /// From us to a client; wants an answer.
    Question,
    /// From us to a server; wants an answer. No client has us take it.
    Errand,
}

/// The member of the params that a standard header repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressedBy {
    Nothing,
    Name,
    Uri,
    Task,
}

impl AddressedBy {
    pub(super) fn member(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Name => Some("name"),
            Self::Uri => Some("uri"),
            Self::Task => Some("taskId"),
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub kind: Kind,
    pub since: Revision,
    pub until: Revision,
    pub addressed_by: AddressedBy,
}

macro_rules! methods {
    ($($variant:ident, $name:literal, $kind:ident, $since:ident, $until:ident, $addressed:ident;)*) => {
        /// A method or a notification that the gateway takes or sends.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($variant),* }

        impl Method {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => const {
                        &Row {
                            name: $name,
                            kind: Kind::$kind,
                            since: $since,
                            until: $until,
                            addressed_by: AddressedBy::$addressed,
                        }
                    }),*
                }
            }

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

methods! {
    Initialize,        "initialize",                               Request,      V2024_11_05, V2025_11_25, Nothing;
    Initialized,       "notifications/initialized",                Notification, V2024_11_05, V2025_11_25, Nothing;
    Ping,              "ping",                                     Request,      V2024_11_05, V2025_11_25, Nothing;
    Discover,          "server/discover",                          Request,      V2026_07_28, V2026_07_28, Nothing;
    ToolsList,         "tools/list",                               Request,      V2024_11_05, V2026_07_28, Nothing;
    ToolsCall,         "tools/call",                               Request,      V2024_11_05, V2026_07_28, Name;
    PromptsList,       "prompts/list",                             Request,      V2024_11_05, V2026_07_28, Nothing;
    PromptsGet,        "prompts/get",                              Request,      V2024_11_05, V2026_07_28, Name;
    ResourcesList,     "resources/list",                           Request,      V2024_11_05, V2026_07_28, Nothing;
    TemplatesList,     "resources/templates/list",                 Request,      V2024_11_05, V2026_07_28, Nothing;
    ResourcesRead,     "resources/read",                           Request,      V2024_11_05, V2026_07_28, Uri;
    Subscribe,         "resources/subscribe",                      Request,      V2024_11_05, V2025_11_25, Uri;
    Unsubscribe,       "resources/unsubscribe",                    Request,      V2024_11_05, V2025_11_25, Uri;
    Listen,            "subscriptions/listen",                     Request,      V2026_07_28, V2026_07_28, Nothing;
    Complete,          "completion/complete",                      Request,      V2024_11_05, V2026_07_28, Nothing;
    SetLevel,          "logging/setLevel",                         Request,      V2024_11_05, V2025_11_25, Nothing;
    TasksGet,          "tasks/get",                                Request,      V2026_07_28, V2026_07_28, Task;
    TasksUpdate,       "tasks/update",                             Request,      V2026_07_28, V2026_07_28, Task;
    TasksCancel,       "tasks/cancel",                             Request,      V2026_07_28, V2026_07_28, Task;
    TasksResult,       "tasks/result",                             Errand,       V2025_11_25, V2025_11_25, Task;
    TaskChanged,       "notifications/tasks",                      Notice,       V2026_07_28, V2026_07_28, Task;
    Cancelled,         "notifications/cancelled",                  Notification, V2024_11_05, V2026_07_28, Nothing;
    Progress,          "notifications/progress",                   Notice,       V2024_11_05, V2026_07_28, Nothing;
    RootsChanged,      "notifications/roots/list_changed",         Notification, V2024_11_05, V2025_11_25, Nothing;
    Elicit,            "elicitation/create",                       Question,     V2025_06_18, V2025_11_25, Nothing;
    Sample,            "sampling/createMessage",                   Question,     V2024_11_05, V2025_11_25, Nothing;
    Roots,             "roots/list",                               Question,     V2024_11_05, V2025_11_25, Nothing;
    LogMessage,        "notifications/message",                    Notice,       V2024_11_05, V2026_07_28, Nothing;
    ToolsChanged,      "notifications/tools/list_changed",         Notice,       V2024_11_05, V2026_07_28, Nothing;
    PromptsChanged,    "notifications/prompts/list_changed",       Notice,       V2024_11_05, V2026_07_28, Nothing;
    ResourcesChanged,  "notifications/resources/list_changed",     Notice,       V2024_11_05, V2026_07_28, Nothing;
    ResourceUpdated,   "notifications/resources/updated",          Notice,       V2024_11_05, V2026_07_28, Uri;
    Elicited,          "notifications/elicitation/complete",       Notice,       V2025_11_25, V2025_11_25, Nothing;
    Acknowledged,      "notifications/subscriptions/acknowledged", Notice,       V2026_07_28, V2026_07_28, Nothing;
}

impl Method {
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The method a client of this revision means, if it may send it.
    pub fn from_client(name: &str, revision: Revision, kind: Kind) -> Option<Self> {
        let method = Self::named(name)?;
        let row = method.row();
        let in_force = row.since <= revision && revision <= row.until;
        (in_force && row.kind == kind).then_some(method)
    }
}

/// Whether a client opens a session with this method.
pub fn opens_session(name: &str) -> bool {
    name == Method::Initialize.name()
}
