//! Step 4, lift, for the legacy era: a message into a request of the core.

use tidegate_core::{ClientContext, Era, GatewayOperation, Object, Operation, RawJson, Result};

use super::client_capabilities::restrict_to_revision;
use super::lifted::{HandshakeRequest, Lifted, LiftedRequest};
use super::meta::{parse_log_level, parse_progress_token};
use super::methods::Method;
use super::params::{
    common_operation, invalid_params, method_not_found, method_of, parse_params, required_string,
};
use super::tasks;
use super::version::Revision;
use crate::message::{Message, Rejection};
use crate::request_id::RequestId;

/// The maximum size of a handshake member, which is kept until the session ends.
const MAX_HANDSHAKE_MEMBER_BYTES: usize = 64 * 1024;

/// Lifts a message of a session, or of a client that does not describe itself. `client` is the
/// client context of the session.
pub fn lift_legacy(
    message: Message,
    revision: Revision,
    client: ClientContext,
) -> Result<Lifted, Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            lift_request(&id, &method, params, revision, client).map_err(|error| (Some(id), error))
        }
        Message::Notification { method, params } => Ok(Lifted::from_notification(
            revision,
            &method,
            params.as_ref(),
        )),
        Message::Response { id, body } => Ok(Lifted::Response { id, body }),
    }
}

fn lift_request(
    id: &RequestId,
    name: &str,
    params: RawJson,
    revision: Revision,
    mut client: ClientContext,
) -> Result<Lifted> {
    let members = parse_params(&params)?;
    let (method, extension) = method_of(name, revision)?;
    if let Some(meta) = members
        .get("_meta")
        .and_then(|meta| Object::parse(meta).ok())
    {
        client.progress = parse_progress_token(&meta)?;
    }
    let id = id.clone();
    let operation = match method {
        Method::Initialize => {
            let handshake = parse_handshake(&members)?;
            return Ok(Lifted::Handshake { id, handshake });
        }
        Method::SetLevel => {
            let level = members
                .get("level")
                .ok_or_else(|| invalid_params("`level` is missing"))?;
            let level = parse_log_level(level)?;
            return Ok(Lifted::SetLevel { id, level });
        }
        Method::Subscribe => {
            let uri = required_string(&members, "uri")?;
            return Ok(Lifted::Subscribe { id, uri });
        }
        Method::Unsubscribe => {
            let uri = required_string(&members, "uri")?;
            return Ok(Lifted::Unsubscribe { id, uri });
        }
        Method::Ping => Operation::Gateway(GatewayOperation::Ping),
        _ => match extension {
            Some(operation) => operation,
            None => common_operation(method, &members)
                .unwrap_or_else(|| Err(method_not_found(name, revision)))?,
        },
    };
    drop(members);
    Ok(Lifted::Request(LiftedRequest {
        id,
        method,
        operation,
        params,
        client,
        is_continuation: false,
    }))
}

fn parse_handshake(params: &Object<'_>) -> Result<HandshakeRequest> {
    let requested = required_string(params, "protocolVersion")?;
    let revision = Revision::parse(&requested)
        .filter(|revision| revision.era() == Era::Legacy)
        .unwrap_or(Revision::NEWEST_LEGACY);
    let capabilities = match params.get("capabilities") {
        None => RawJson::empty_object(),
        Some(text) if text.starts_with('{') => {
            let declared = copy_member("capabilities", text)?;
            restrict_to_revision(tasks::without_tasks(declared), revision)
        }
        Some(_) => return Err(invalid_params("`capabilities` must be an object")),
    };
    let client_info = params
        .get("clientInfo")
        .map(|text| copy_member("clientInfo", text))
        .transpose()?;
    Ok(HandshakeRequest {
        revision,
        capabilities,
        client_info,
    })
}

fn copy_member(member: &str, text: &str) -> Result<RawJson> {
    if text.len() > MAX_HANDSHAKE_MEMBER_BYTES {
        return Err(invalid_params(&format!(
            "`{member}` is longer than {MAX_HANDSHAKE_MEMBER_BYTES} bytes"
        )));
    }
    Ok(RawJson::copy_of(text))
}
