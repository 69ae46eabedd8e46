//! Encodes requests and notifications of the gateway to a server.

use tidegate_core::{
    ChangeFilter, ClientContext, Era, List, LoggingLevel, Object, Operation, RawJson, Reference,
    SkillOperation,
};

use super::super::change_filter::encode_filter;
use super::super::lower::encode_message;
use super::super::meta::{GATEWAY_INFO, has_modern_meta, keys};
use super::super::methods::Method;
use super::super::tasks;
use super::super::version::Revision;

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundRequest {
    pub id: u64,
    pub method: Method,
    /// The name of the method, where it is not that of `method`.
    pub(super) extension: Option<String>,
    pub json: String,
    /// The value of the header `Mcp-Name`: a name, URI or task id.
    pub name: Option<String>,
}

/// Encodes requests to one server.
#[derive(Clone, Debug)]
pub struct RequestEncoder {
    pub revision: Revision,
    /// The client on whose behalf the requests are made.
    pub client: ClientContext,
}

impl OutboundRequest {
    pub fn method_name(&self) -> &str {
        let name = self.extension.as_deref();
        name.unwrap_or_else(|| self.method.name())
    }
}

impl RequestEncoder {
    /// Encodes a call; `None` if the server's era does not have the operation. `definition` is the
    /// definition of the called tool, if known.
    pub fn call(
        &self,
        id: u64,
        operation: &Operation,
        params: &RawJson,
        definition: Option<&RawJson>,
    ) -> Option<OutboundRequest> {
        let mut params = params.object().unwrap_or_default();
        let is_legacy = self.revision.era() == Era::Legacy;
        let (method, name) = match operation {
            Operation::Tool { name } => (Method::ToolsCall, name),
            Operation::Prompt { name } => (Method::PromptsGet, name),
            Operation::Resource { uri } => (Method::ResourcesRead, uri),
            Operation::Completion { reference } => {
                let reference = encode_reference(reference, params.get("ref"));
                params.set("ref", reference);
                return Some(self.encode(id, Method::Complete, params, None));
            }
            Operation::Task { .. } if is_legacy => return None,
            Operation::Task { operation, id } => (tasks::method_of(*operation), id),
            Operation::Skill(operation) => return Some(self.skill(id, operation, params)),
            Operation::Extension { method } => {
                let extension = Some(method.clone());
                return Some(self.encode_method(id, Method::Extension, extension, params, None));
            }
            Operation::Gateway(_) => return None,
        };
        // Clients may send null for no arguments; many servers reject it.
        if params.get("arguments") == Some("null") {
            params.remove("arguments");
        }
        if let Some(member) = method.spec().name_param.member() {
            params.set(member, RawJson::string(name).as_str().to_owned());
        }
        if is_legacy {
            for modern_only in ["inputResponses", "requestState", "task"] {
                params.remove(modern_only);
            }
            if definition.is_some_and(tasks::must_be_task) {
                params.set("task", "{}");
            }
        }
        Some(self.encode(id, method, params, Some(name.clone())))
    }

    fn skill(
        &self,
        id: u64,
        operation: &SkillOperation,
        mut params: Object<'_>,
    ) -> OutboundRequest {
        let method = match operation {
            SkillOperation::List => Method::SkillsList,
            SkillOperation::Get { .. } => Method::SkillsGet,
            SkillOperation::ReadDirectory { .. } => Method::DirectoryRead,
        };
        if let Some(uri) = operation.uri() {
            params.set("uri", RawJson::string(uri).as_str().to_owned());
        }
        self.encode(id, method, params, None)
    }

    /// A page of a list.
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
        self.encode(id, method, params, None)
    }

    /// Opens a session.
    pub fn initialize(&self, id: u64) -> OutboundRequest {
        let mut params = Object::default();
        params.set("protocolVersion", format!("\"{}\"", self.revision));
        params.set("capabilities", self.client.capabilities.as_str().to_owned());
        params.set("clientInfo", self.client_info());
        self.encode(id, Method::Initialize, params, None)
    }

    /// Asks a server whether it is modern, and for its capabilities.
    pub fn discover(&self, id: u64) -> OutboundRequest {
        self.encode(id, Method::Discover, Object::default(), None)
    }

    /// Checks that a legacy server is alive.
    pub fn ping(&self, id: u64) -> OutboundRequest {
        self.encode(id, Method::Ping, Object::default(), None)
    }

    pub fn subscribe(&self, id: u64, uri: &str) -> OutboundRequest {
        self.encode_with_uri(id, Method::Subscribe, uri)
    }

    pub fn unsubscribe(&self, id: u64, uri: &str) -> OutboundRequest {
        self.encode_with_uri(id, Method::Unsubscribe, uri)
    }

    pub fn set_level(&self, id: u64, level: LoggingLevel) -> OutboundRequest {
        let mut params = Object::default();
        params.set("level", format!("\"{}\"", level.as_str()));
        self.encode(id, Method::SetLevel, params, None)
    }

    /// Opens a change stream.
    pub fn listen(&self, id: u64, filter: &ChangeFilter) -> OutboundRequest {
        let mut params = Object::default();
        params.set("notifications", encode_filter(filter));
        self.encode(id, Method::Listen, params, None)
    }

    fn encode_with_uri(&self, id: u64, method: Method, uri: &str) -> OutboundRequest {
        let mut params = Object::default();
        params.set("uri", RawJson::string(uri).as_str().to_owned());
        self.encode(id, method, params, None)
    }

    pub(super) fn encode(
        &self,
        id: u64,
        method: Method,
        params: Object<'_>,
        name: Option<String>,
    ) -> OutboundRequest {
        self.encode_method(id, method, None, params, name)
    }

    fn encode_method(
        &self,
        id: u64,
        method: Method,
        extension: Option<String>,
        mut params: Object<'_>,
        name: Option<String>,
    ) -> OutboundRequest {
        let meta = self.meta(id, params.get("_meta"));
        match meta.as_str() {
            "{}" => drop(params.remove("_meta")),
            meta => params.set("_meta", meta.to_owned()),
        }
        let params = params.write();
        let method_name = RawJson::string(extension.as_deref().unwrap_or_else(|| method.name()));
        let json =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method_name},"params":{params}}}"#);
        OutboundRequest {
            id,
            method,
            extension,
            json,
            name,
        }
    }

    /// The name and version of the client, or those of the gateway.
    fn client_info(&self) -> String {
        let info = self.client.client_info.as_ref();
        info.map_or(GATEWAY_INFO.as_str(), RawJson::as_str)
            .to_owned()
    }

    /// Replaces the members of the client's `_meta` that describe the client; other members are
    /// kept.
    fn meta(&self, id: u64, meta: Option<&str>) -> RawJson {
        let mut meta = meta
            .and_then(|meta| Object::parse(meta).ok())
            .unwrap_or_default();
        for member in [
            keys::PROTOCOL_VERSION,
            keys::CLIENT_CAPABILITIES,
            keys::CLIENT_INFO,
            keys::LOG_LEVEL,
            keys::PROGRESS_TOKEN,
        ] {
            meta.remove(member);
        }
        if self.client.progress.is_some() {
            // The request id: unique among the requests in flight.
            meta.set(keys::PROGRESS_TOKEN, id.to_string());
        }
        if self.revision.era() == Era::Modern {
            meta.set(keys::PROTOCOL_VERSION, format!("\"{}\"", self.revision));
            meta.set(
                keys::CLIENT_CAPABILITIES,
                self.client.capabilities.as_str().to_owned(),
            );
            meta.set(keys::CLIENT_INFO, self.client_info());
            if let Some(level) = self.client.log_level {
                meta.set(keys::LOG_LEVEL, format!("\"{}\"", level.as_str()));
            }
        }
        meta.write()
    }
}

/// The reference with the server's own name or URI in it.
fn encode_reference(reference: &Reference, original: Option<&str>) -> String {
    let mut members = original
        .and_then(|text| Object::parse(text).ok())
        .unwrap_or_default();
    let (member, name) = match reference {
        Reference::Prompt(name) => ("name", name),
        Reference::Resource(uri) => ("uri", uri),
    };
    members.set(member, RawJson::string(name).as_str().to_owned());
    members.write().as_str().to_owned()
}

/// Notifications.
impl RequestEncoder {
    pub fn initialized(&self) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{}"}}"#,
            Method::Initialized.name()
        )
    }

    pub fn roots_changed(&self) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"{}"}}"#,
            Method::RootsChanged.name()
        )
    }

    /// A client's notification of an extension that the gateway does not know. Only the members of `_meta`
    /// that describe the client are adapted to the era of the server.
    pub fn extension(&self, method: &str, params: &RawJson) -> String {
        let is_modern = self.revision.era() == Era::Modern;
        let members = params.object();
        let members = members.filter(|members| is_modern || has_modern_meta(members));
        let Some(mut members) = members else {
            return encode_message(method, params);
        };
        let meta = self.meta(0, members.get("_meta"));
        match meta.as_str() {
            "{}" => drop(members.remove("_meta")),
            meta => members.set("_meta", meta.to_owned()),
        }
        encode_message(method, &members.write())
    }

    pub fn cancelled(&self, id: u64) -> String {
        let name = Method::Cancelled.name();
        format!(r#"{{"jsonrpc":"2.0","method":"{name}","params":{{"requestId":{id}}}}}"#)
    }
}
