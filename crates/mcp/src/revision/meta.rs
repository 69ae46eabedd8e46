//! The `_meta` of requests: in the modern era a request describes its client there.

use std::sync::LazyLock;

use tidegate_core::{ClientContext, Code, Era, Error, LoggingLevel, Object, RawJson, Result};

use crate::request_id::RequestId;

/// The keys of `_meta` that the protocol defines.
pub mod keys {
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
}

/// The gateway as `serverInfo` to clients and `clientInfo` to servers.
pub(super) static GATEWAY_INFO: LazyLock<String> = LazyLock::new(|| {
    serde_json::json!({
        "name": "tidegate",
        "title": "Tidegate",
        "version": env!("CARGO_PKG_VERSION"),
    })
    .to_string()
});

/// Whether params have a `_meta` of the modern era.
pub(super) fn has_modern_meta(params: &Object<'_>) -> bool {
    let meta = params
        .get("_meta")
        .and_then(|meta| Object::parse(meta).ok());
    meta.is_some_and(|meta| {
        meta.get(keys::PROTOCOL_VERSION).is_some() || meta.get(keys::CLIENT_CAPABILITIES).is_some()
    })
}

/// The `_meta` of a modern request; its required members are present.
pub(super) struct RequestMeta<'a> {
    members: Object<'a>,
    pub(super) version: String,
    capabilities: RawJson,
}

impl<'a> RequestMeta<'a> {
    pub(super) fn parse(params: &'a Object<'_>) -> Result<Self> {
        let text = params
            .get("_meta")
            .ok_or_else(|| malformed_meta("`params._meta` is missing"))?;
        let members =
            Object::parse(text).map_err(|_| malformed_meta("`params._meta` must be an object"))?;
        let version = members.string(keys::PROTOCOL_VERSION).ok_or_else(|| {
            malformed_meta(format!(
                "`{}` must be a string in `_meta`",
                keys::PROTOCOL_VERSION
            ))
        })?;
        let capabilities = members
            .get(keys::CLIENT_CAPABILITIES)
            .filter(|text| Object::parse(text).is_ok())
            .map(RawJson::copy_of)
            .ok_or_else(|| {
                malformed_meta(format!(
                    "`{}` must be an object in `_meta`",
                    keys::CLIENT_CAPABILITIES
                ))
            })?;
        Ok(Self {
            members,
            version,
            capabilities,
        })
    }

    /// Parses the optional members. Call this once the version is known to be supported: another
    /// one could have other log levels.
    pub(super) fn into_client(self) -> Result<ClientContext> {
        Ok(ClientContext {
            era: Era::Modern,
            affinity: None,
            client_info: self.members.get(keys::CLIENT_INFO).map(RawJson::copy_of),
            log_level: self
                .members
                .get(keys::LOG_LEVEL)
                .map(parse_log_level)
                .transpose()?,
            progress: parse_progress_token(&self.members)?,
            capabilities: self.capabilities,
        })
    }
}

/// The progress token of a request, in any revision.
pub(super) fn parse_progress_token(meta: &Object<'_>) -> Result<Option<RawJson>> {
    let Some(token) = meta.get(keys::PROGRESS_TOKEN) else {
        return Ok(None);
    };
    let token = RawJson::copy_of(token);
    match RequestId::new(token.clone()) {
        Some(_) => Ok(Some(token)),
        None => Err(Error::client(
            Code::InvalidParams,
            "`_meta.progressToken` must be a string or an integer",
        )),
    }
}

pub(super) fn parse_log_level(text: &str) -> Result<LoggingLevel> {
    let name: String = serde_json::from_str(text).unwrap_or_default();
    name.parse().map_err(|unknown| {
        Error::client(Code::InvalidParams, format!("invalid log level: {unknown}"))
    })
}

fn malformed_meta(message: impl Into<String>) -> Error {
    Error::client(Code::MalformedMeta, message)
}
