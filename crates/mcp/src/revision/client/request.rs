//! Requests of the gateway to a server.

use tidegate_core::{
    ChangeFilter, ClientContext, List, LogLevel, Object, Operation, RawJson, Reference,
};

use super::super::meta::key;
use super::super::shape::SERVER_INFO;
use super::super::{Era, Method, Revision, tasks};

/// One request, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundRequest {
    pub id: u64,
    pub method: Method,
    pub json: String,
    /// What the request is addressed by: a name or a URI.
    pub address: Option<String>,
}

/// How the gateway words its requests to one server.
#[derive(Clone, Debug)]
pub struct RequestEncoder {
    pub revision: Revision,
    /// What is said about the client on whose behalf the request is made.
    pub client: ClientContext,
}

impl RequestEncoder {
    /// The request that a call makes of a server; none for what it cannot be asked. `definition` is
    /// that of the tool that is called, where it is known.
    pub fn call(
        &self,
        id: u64,
        operation: &Operation,
        params: &RawJson,
        definition: Option<&RawJson>,
    ) -> Option<OutboundRequest> {
        let mut params = params.object().unwrap_or_default();
        let is_legacy = self.revision.era() == Era::Legacy;
        let (method, address) = match operation {
            Operation::Tool { name } => (Method::ToolsCall, name),
            Operation::Prompt { name } => (Method::PromptsGet, name),
            Operation::Resource { uri } => (Method::ResourcesRead, uri),
            Operation::Completion { reference } => {
                let reference = reworded(reference, params.get("ref"));
                params.set("ref", reference);
                return Some(self.write(id, Method::Complete, params, None));
            }
            Operation::Task { .. } if is_legacy => return None,
            Operation::Task { operation, id } => (tasks::method(*operation), id),
            Operation::Gateway(_) => return None,
        };
        if let Some(member) = method.row().addressed_by.member() {
            params.set(member, RawJson::string(address).as_str().to_owned());
        }
        if is_legacy {
            for not_relayed in ["inputResponses", "requestState", "task"] {
                params.remove(not_relayed);
            }
            if definition.is_some_and(tasks::is_required) {
                params.set("task", "{}");
            }
        }
        Some(self.write(id, method, params, Some(address.clone())))
    }

    /// One page of a list.
    pub fn list(&self, id: u64, list: List, cursor: Option<&str>) -> OutboundRequest {
        let method = match list {
            List::Tools => Method::ToolsList,
            List::Prompts => Method::PromptsList,
            List::Resources => Method::ResourcesList,
            List::Templates => Method::TemplatesList,
        };
        let mut params = Object::default();
        if let Some(cursor) = cursor {
            params.set("cursor", RawJson::string(cursor).as_str().to_owned());
        }
        self.write(id, method, params, None)
    }

    /// The opening of a session.
    pub fn initialize(&self, id: u64) -> OutboundRequest {
        let mut params = Object::default();
        params.set("protocolVersion", format!("\"{}\"", self.revision));
        params.set("capabilities", self.client.capabilities.as_str().to_owned());
        params.set("clientInfo", SERVER_INFO.as_str());
        self.write(id, Method::Initialize, params, None)
    }

    /// The question whether a server speaks without sessions, and what it can do.
    pub fn discover(&self, id: u64) -> OutboundRequest {
        self.write(id, Method::Discover, Object::default(), None)
    }

    pub fn subscribe(&self, id: u64, uri: &str) -> OutboundRequest {
        self.about(id, Method::Subscribe, uri)
    }

    pub fn unsubscribe(&self, id: u64, uri: &str) -> OutboundRequest {
        self.about(id, Method::Unsubscribe, uri)
    }

    pub fn set_level(&self, id: u64, level: LogLevel) -> OutboundRequest {
        let mut params = Object::default();
        params.set("level", format!("\"{}\"", level.as_str()));
        self.write(id, Method::SetLevel, params, None)
    }

    /// A stream of changes.
    pub fn listen(&self, id: u64, filter: &ChangeFilter) -> OutboundRequest {
        let mut params = Object::default();
        params.set("notifications", super::super::lower::filter_json(filter));
        self.write(id, Method::Listen, params, None)
    }

    fn about(&self, id: u64, method: Method, uri: &str) -> OutboundRequest {
        let mut params = Object::default();
        params.set("uri", RawJson::string(uri).as_str().to_owned());
        self.write(id, method, params, None)
    }

    pub(super) fn write(
        &self,
        id: u64,
        method: Method,
        mut params: Object<'_>,
        address: Option<String>,
    ) -> OutboundRequest {
        let meta = self.meta(id, params.get("_meta"));
        match meta.as_str() {
            "{}" => drop(params.remove("_meta")),
            meta => params.set("_meta", meta.to_owned()),
        }
        let (name, params) = (method.name(), params.write());
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{name}","params":{params}}}"#);
        OutboundRequest {
            id,
            method,
            json,
            address,
        }
    }

    /// What the client said about itself is said in the gateway's words; what else it put into
    /// `_meta` goes along.
    fn meta(&self, id: u64, meta: Option<&str>) -> RawJson {
        let mut meta = meta
            .and_then(|meta| Object::parse(meta).ok())
            .unwrap_or_default();
        for ours in [
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES,
            key::CLIENT_INFO,
            key::LOG_LEVEL,
            key::PROGRESS_TOKEN,
        ] {
            meta.remove(ours);
        }
        if self.client.progress.is_some() {
            // Our own id: unique among what is under way, and told apart by it.
            meta.set(key::PROGRESS_TOKEN, id.to_string());
        }
        if self.revision.era() == Era::Modern {
            meta.set(key::PROTOCOL_VERSION, format!("\"{}\"", self.revision));
            meta.set(
                key::CLIENT_CAPABILITIES,
                self.client.capabilities.as_str().to_owned(),
            );
            meta.set(key::CLIENT_INFO, SERVER_INFO.as_str());
            if let Some(level) = self.client.log_level {
                meta.set(key::LOG_LEVEL, format!("\"{}\"", level.as_str()));
            }
        }
        meta.write()
    }
}

/// A reference under the server's own name.
fn reworded(reference: &Reference, sent: Option<&str>) -> String {
    let mut members = sent
        .and_then(|sent| Object::parse(sent).ok())
        .unwrap_or_default();
    let (member, name) = match reference {
        Reference::Prompt(name) => ("name", name),
        Reference::Resource(uri) => ("uri", uri),
    };
    members.set(member, RawJson::string(name).as_str().to_owned());
    members.write().as_str().to_owned()
}

/// Notifications of the gateway to a server.
impl RequestEncoder {
    pub fn initialized(&self) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{}"}}"#,
            Method::Initialized.name()
        )
    }

    /// The client works in other folders than before.
    pub fn roots_changed(&self) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{}"}}"#,
            Method::RootsChanged.name()
        )
    }

    pub fn cancelled(&self, id: u64) -> String {
        let name = Method::Cancelled.name();
        format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{{"requestId":{id}}}}}"#)
    }
}
