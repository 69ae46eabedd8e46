//! What a stateless request says about itself, in `_meta`.

use tidegate_core::{ClientContext, Code, Error, LogLevel, Object, RawJson, Result};

/// The keys of `_meta` that the protocol defines.
pub mod key {
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
}

/// Whether params carry what only a stateless request carries.
pub(super) fn is_modern(params: &Object<'_>) -> bool {
    let meta = params
        .get("_meta")
        .and_then(|meta| Object::parse(meta).ok());
    meta.is_some_and(|meta| {
        meta.get(key::PROTOCOL_VERSION).is_some() || meta.get(key::CLIENT_CAPABILITIES).is_some()
    })
}

/// The `_meta` of a stateless request: what it must say is there.
pub(super) struct Meta<'a> {
    members: Object<'a>,
    pub(super) version: String,
    capabilities: RawJson,
}

impl<'a> Meta<'a> {
    pub(super) fn read(params: &'a Object<'_>) -> Result<Self> {
        let text = params
            .get("_meta")
            .ok_or_else(|| malformed("`params._meta` is missing"))?;
        let members =
            Object::parse(text).map_err(|_| malformed("`params._meta` is not an object"))?;
        let version = members.string(key::PROTOCOL_VERSION).ok_or_else(|| {
            malformed(format!(
                "`{}` must be a string in `_meta`",
                key::PROTOCOL_VERSION
            ))
        })?;
        let capabilities = members
            .get(key::CLIENT_CAPABILITIES)
            .filter(|text| Object::parse(text).is_ok())
            .map(own)
            .ok_or_else(|| {
                malformed(format!(
                    "`{}` must be an object in `_meta`",
                    key::CLIENT_CAPABILITIES
                ))
            })?;
        Ok(Self {
            members,
            version,
            capabilities,
        })
    }

    /// What it may say besides. Read once the version is known to be one we speak: another could
    /// have other levels.
    pub(super) fn client(self) -> Result<ClientContext> {
        Ok(ClientContext {
            stateless: true,
            affinity: None,
            client_info: self.members.get(key::CLIENT_INFO).map(own),
            log_level: self
                .members
                .get(key::LOG_LEVEL)
                .map(read_level)
                .transpose()?,
            progress: read_progress_token(&self.members)?,
            capabilities: self.capabilities,
        })
    }
}

/// The token under which a client wants progress, in any revision.
pub(super) fn read_progress_token(meta: &Object<'_>) -> Result<Option<RawJson>> {
    let Some(token) = meta.get(key::PROGRESS_TOKEN) else {
        return Ok(None);
    };
    let token = own(token);
    match crate::RequestId::new(token.clone()) {
        Some(_) => Ok(Some(token)),
        None => Err(Error::client(
            Code::InvalidParams,
            "`_meta.progressToken` must be a string or an integer",
        )),
    }
}

/// A log level, as JSON.
pub(super) fn read_level(text: &str) -> Result<LogLevel> {
    let name: String = serde_json::from_str(text).unwrap_or_default();
    name.parse().map_err(|unknown| {
        Error::client(Code::InvalidParams, format!("wrong log level: {unknown}"))
    })
}

/// A member of an object, as a value of its own.
pub(super) fn own(member: &str) -> RawJson {
    RawJson::copy_of(member)
}

fn malformed(message: impl Into<String>) -> Error {
    Error::client(Code::MalformedMeta, message)
}
