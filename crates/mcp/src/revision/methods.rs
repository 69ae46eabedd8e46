//! The table of methods: their names, who sends them, in which revisions they exist, and which
//! param the header `Mcp-Name` repeats. Method names appear nowhere else.

use super::version::Revision;
use Revision::{V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

/// Who sends a method, and whether it is a request or a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    /// A request of clients.
    ClientRequest,
    /// A notification of clients.
    ClientNotification,
    /// A notification of servers.
    ServerNotification,
    /// A request of servers to clients: a question.
    Question,
    /// A request that the gateway sends to servers and does not accept from clients.
    UpstreamRequest,
    /// A request or notification of an extension that the gateway does not know. It has any name.
    Extension,
}

/// The member of the params that the header `Mcp-Name` repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameParam {
    None,
    Name,
    Uri,
    TaskId,
}

impl NameParam {
    pub(super) fn member(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Name => Some("name"),
            Self::Uri => Some("uri"),
            Self::TaskId => Some("taskId"),
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct MethodSpec {
    pub name: &'static str,
    pub kind: MethodKind,
    /// The first and last revisions that have the method.
    pub since: Revision,
    pub until: Revision,
    pub name_param: NameParam,
}

impl MethodSpec {
    /// Whether a revision has the method.
    pub fn exists_in(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }
}

macro_rules! methods {
    ($($variant:ident, $name:literal, $kind:ident, $since:ident, $until:ident, $name_param:ident;)*) => {
        /// A method that the gateway accepts or sends.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method { $($variant),* }

        impl Method {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn spec(self) -> &'static MethodSpec {
                match self {
                    $(Self::$variant => const {
                        &MethodSpec {
                            name: $name,
                            kind: MethodKind::$kind,
                            since: $since,
                            until: $until,
                            name_param: NameParam::$name_param,
                        }
                    }),*
                }
            }

            fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

methods! {
    Initialize,          "initialize",                               ClientRequest,      V2024_11_05, V2025_11_25, None;
    Initialized,         "notifications/initialized",                ClientNotification, V2024_11_05, V2025_11_25, None;
    Ping,                "ping",                                     ClientRequest,      V2024_11_05, V2025_11_25, None;
    Discover,            "server/discover",                          ClientRequest,      V2026_07_28, V2026_07_28, None;
    ToolsList,           "tools/list",                               ClientRequest,      V2024_11_05, V2026_07_28, None;
    ToolsCall,           "tools/call",                               ClientRequest,      V2024_11_05, V2026_07_28, Name;
    PromptsList,         "prompts/list",                             ClientRequest,      V2024_11_05, V2026_07_28, None;
    PromptsGet,          "prompts/get",                              ClientRequest,      V2024_11_05, V2026_07_28, Name;
    ResourcesList,       "resources/list",                           ClientRequest,      V2024_11_05, V2026_07_28, None;
    TemplatesList,       "resources/templates/list",                 ClientRequest,      V2024_11_05, V2026_07_28, None;
    ResourcesRead,       "resources/read",                           ClientRequest,      V2024_11_05, V2026_07_28, Uri;
    Subscribe,           "resources/subscribe",                      ClientRequest,      V2024_11_05, V2025_11_25, Uri;
    Unsubscribe,         "resources/unsubscribe",                    ClientRequest,      V2024_11_05, V2025_11_25, Uri;
    Listen,              "subscriptions/listen",                     ClientRequest,      V2026_07_28, V2026_07_28, None;
    Complete,            "completion/complete",                      ClientRequest,      V2024_11_05, V2026_07_28, None;
    SetLevel,            "logging/setLevel",                         ClientRequest,      V2024_11_05, V2025_11_25, None;
    TasksGet,            "tasks/get",                                ClientRequest,      V2026_07_28, V2026_07_28, TaskId;
    TasksUpdate,         "tasks/update",                             ClientRequest,      V2026_07_28, V2026_07_28, TaskId;
    TasksCancel,         "tasks/cancel",                             ClientRequest,      V2026_07_28, V2026_07_28, TaskId;
    TasksResult,         "tasks/result",                             UpstreamRequest,    V2025_11_25, V2025_11_25, TaskId;
    TaskChanged,         "notifications/tasks",                      ServerNotification, V2026_07_28, V2026_07_28, TaskId;
    SkillsList,          "skills/list",                              ClientRequest,      V2024_11_05, V2026_07_28, None;
    SkillsGet,           "skills/get",                               ClientRequest,      V2024_11_05, V2026_07_28, None;
    DirectoryRead,       "resources/directory/read",                 ClientRequest,      V2024_11_05, V2026_07_28, None;
    Extension,           "extension",                                Extension,          V2024_11_05, V2026_07_28, None;
    Cancelled,           "notifications/cancelled",                  ClientNotification, V2024_11_05, V2026_07_28, None;
    Progress,            "notifications/progress",                   ServerNotification, V2024_11_05, V2026_07_28, None;
    RootsChanged,        "notifications/roots/list_changed",         ClientNotification, V2024_11_05, V2025_11_25, None;
    Elicit,              "elicitation/create",                       Question,           V2025_06_18, V2025_11_25, None;
    Sample,              "sampling/createMessage",                   Question,           V2024_11_05, V2025_11_25, None;
    Roots,               "roots/list",                               Question,           V2024_11_05, V2025_11_25, None;
    LogMessage,          "notifications/message",                    ServerNotification, V2024_11_05, V2026_07_28, None;
    ToolsChanged,        "notifications/tools/list_changed",         ServerNotification, V2024_11_05, V2026_07_28, None;
    PromptsChanged,      "notifications/prompts/list_changed",       ServerNotification, V2024_11_05, V2026_07_28, None;
    ResourcesChanged,    "notifications/resources/list_changed",     ServerNotification, V2024_11_05, V2026_07_28, None;
    ResourceUpdated,     "notifications/resources/updated",          ServerNotification, V2024_11_05, V2026_07_28, Uri;
    ElicitationComplete, "notifications/elicitation/complete",       ServerNotification, V2025_11_25, V2025_11_25, None;
    Acknowledged,        "notifications/subscriptions/acknowledged", ServerNotification, V2026_07_28, V2026_07_28, None;
}

impl Method {
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The method of this name and kind, if a client of this revision may send it.
    pub fn from_client(name: &str, revision: Revision, kind: MethodKind) -> Option<Self> {
        let method = Self::by_name(name)?;
        let spec = method.spec();
        (spec.exists_in(revision) && spec.kind == kind).then_some(method)
    }
}

/// Whether a client's method or notification can belong to an extension that the gateway does not know.
/// The tasks of servers are run by the gateway, whatever their methods.
pub(super) fn may_be_extension(name: &str) -> bool {
    let is_known = Method::by_name(name).is_some_and(|known| known != Method::Extension);
    !is_known && !name.starts_with("tasks/")
}

/// Whether this method opens a session.
pub fn opens_session(name: &str) -> bool {
    name == Method::Initialize.name()
}
