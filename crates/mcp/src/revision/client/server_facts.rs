//! What a server declares about itself, in the results of `initialize` and `server/discover`.

use std::sync::Arc;

use tidegate_core::{Era, Features, Object, RawJson, bounded_list};

use super::super::meta::keys;
use super::super::tasks;
use super::super::version::Revision;

/// Versions in one result.
const MAX_VERSIONS: usize = 100;

/// What a server declares about itself in one era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    pub revision: Revision,
    pub features: Features,
    /// Whether the server sends `list_changed` for all of its lists.
    pub announces_changes: bool,
    pub instructions: Option<String>,
    /// The result of the handshake, with everything that the server declared.
    pub declared: RawJson,
    pub sessions: SessionSupport,
}

/// Whether a server supports legacy sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionSupport {
    /// It declares modern revisions only. Many servers do so and support sessions too.
    Unknown,
    Unsupported,
    /// `facts` are those of a session of a modern server, if they are known.
    Supported {
        facts: Option<Arc<ServerFacts>>,
    },
}

/// The members of a handshake result that describe the server as a peer. The gateway replaces them
/// by its own.
const PEER_MEMBERS: [&str; 7] = [
    "protocolVersion",
    "supportedVersions",
    "serverInfo",
    "instructions",
    "resultType",
    "ttlMs",
    "cacheScope",
];

impl ServerFacts {
    pub fn supports_sessions(&self) -> bool {
        matches!(self.sessions, SessionSupport::Supported { .. })
    }

    /// What a modern server declares in a session, if that is known.
    pub fn in_session(&self) -> Option<&ServerFacts> {
        match &self.sessions {
            SessionSupport::Supported { facts } => facts.as_deref(),
            SessionSupport::Unknown | SessionSupport::Unsupported => None,
        }
    }

    /// What clients of this server are told about it besides its instructions: its capabilities and
    /// all members that the gateway does not know.
    pub fn declaration(&self) -> RawJson {
        let mut members = self.declared.object().unwrap_or_default();
        for member in PEER_MEMBERS {
            members.remove(member);
        }
        // The tasks of a legacy server are run by the gateway.
        edit_member(&mut members, "capabilities", |capabilities| {
            capabilities.remove("tasks");
        });
        edit_member(&mut members, "_meta", |meta| {
            meta.remove(keys::SERVER_INFO);
        });
        if members.get("_meta") == Some("{}") {
            members.remove("_meta");
        }
        members.write()
    }
}

/// Edits a member that is an object.
fn edit_member(members: &mut Object<'_>, name: &'static str, edit: impl FnOnce(&mut Object<'_>)) {
    let text = members.get(name).map(str::to_owned);
    if let Some(mut object) = text.as_deref().and_then(|text| Object::parse(text).ok()) {
        edit(&mut object);
        let edited = object.write().as_str().to_owned();
        members.set(name, edited);
    }
}

/// Parses the result of `initialize`; `None` if it is malformed or its revision is unknown.
pub fn parse_initialize_result(result: &RawJson) -> Option<ServerFacts> {
    let members = result.object()?;
    let revision = Revision::parse(&members.string("protocolVersion")?)?;
    Some(server_facts(revision, result, &members))
}

/// Parses the result of `server/discover`; `None` if it is malformed or names only legacy revisions.
pub(super) fn parse_discover_result(revision: Revision, result: &RawJson) -> Option<ServerFacts> {
    let members = result.object()?;
    let versions = parse_versions(members.get("supportedVersions")?)?;
    let is_legacy = |version: &String| {
        Revision::parse(version).is_some_and(|revision| revision.era() == Era::Legacy)
    };
    let declares_sessions = versions.iter().any(is_legacy);
    if declares_sessions && versions.iter().all(is_legacy) {
        return None;
    }
    let mut facts = server_facts(revision, result, &members);
    if !declares_sessions {
        facts.sessions = SessionSupport::Unknown;
    }
    Some(facts)
}

/// Parses the result of a handshake in this revision, as `ServerFacts::declared` has it.
pub fn parse_declared(revision: Revision, result: &RawJson) -> Option<ServerFacts> {
    match revision.era() {
        Era::Legacy => parse_initialize_result(result),
        Era::Modern => parse_discover_result(revision, result),
    }
}

/// Parses a list of versions.
pub(super) fn parse_versions(list: &str) -> Option<Vec<String>> {
    bounded_list(list, MAX_VERSIONS).ok()
}

fn server_facts(revision: Revision, result: &RawJson, members: &Object<'_>) -> ServerFacts {
    let capabilities = members
        .get("capabilities")
        .and_then(|text| Object::parse(text).ok());
    let capabilities = capabilities.unwrap_or_default();
    let capability = |name: &str| Object::parse(capabilities.get(name)?).ok();
    let has = |name: &str| capabilities.get(name).is_some();
    let announces_changes =
        |name| capability(name).is_none_or(|declared| declared.get("listChanged") == Some("true"));
    let features = Features {
        tools: has("tools"),
        prompts: has("prompts"),
        resources: has("resources"),
        subscribe: capability("resources")
            .is_some_and(|declared| declared.get("subscribe") == Some("true")),
        completions: has("completions"),
        logging: has("logging"),
        tasks: revision.era() == Era::Modern && tasks::declares_tasks(&capabilities.write()),
    };
    ServerFacts {
        revision,
        features,
        announces_changes: ["tools", "prompts", "resources"]
            .into_iter()
            .all(announces_changes),
        instructions: members.string("instructions"),
        declared: result.clone(),
        sessions: SessionSupport::Supported { facts: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_keeps_members_that_the_gateway_does_not_know() {
        let result = RawJson::copy_of(
            r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"a","version":"1"},
            "capabilities":{"tools":{},"tasks":{"list":{}},"experimental":{"com.example/x":{"n":1.50}},
            "extensions":{"com.example/y":{}}},"instructions":"i","com.example/z":12345678901234567890}"#,
        );
        let facts = parse_initialize_result(&result).unwrap();
        assert_eq!(
            facts.declaration().as_str(),
            r#"{"capabilities":{"tools":{},"experimental":{"com.example/x":{"n":1.50}},"extensions":{"com.example/y":{}}},"com.example/z":12345678901234567890}"#
        );
    }
}
