//! Lifting a request of a revision with a handshake.

use tidegate_core::{ClientContext, GatewayOperation, Object, Operation, RawJson, Result};

use super::client_capabilities::restrict_to_revision;
use super::lift::{Lifted, LiftedRequest, common_ask, invalid, members, no_such_method, required};
use super::meta::{own, read_level, read_progress_token};
use super::methods::{Kind, Method};
use super::{Era, Revision, tasks};
use crate::RequestId;

/// What a client says when it opens a session.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// What the session will speak: what was asked for if we know it, else the newest of its era.
    pub revision: Revision,
    pub capabilities: RawJson,
    pub client: Option<RawJson>,
}

pub(super) fn request(
    id: &RequestId,
    name: &str,
    params: RawJson,
    revision: Revision,
    mut client: ClientContext,
) -> Result<Lifted> {
    let object = members(&params)?;
    let method = Method::from_client(name, revision, Kind::Request)
        .ok_or_else(|| no_such_method(name, revision))?;
    if let Some(meta) = object
        .get("_meta")
        .and_then(|meta| Object::parse(meta).ok())
    {
        client.progress = read_progress_token(&meta)?;
    }
    let id = id.clone();
    let operation = match method {
        Method::Initialize => {
            let handshake = handshake(&object)?;
            return Ok(Lifted::Handshake { id, handshake });
        }
        Method::SetLevel => {
            let level = object
                .get("level")
                .ok_or_else(|| invalid("`level` is missing"))?;
            return Ok(Lifted::SetLevel {
                id,
                level: read_level(level)?,
            });
        }
        Method::Subscribe => {
            return Ok(Lifted::Subscribe {
                id,
                uri: required(&object, "uri")?,
            });
        }
        Method::Unsubscribe => {
            return Ok(Lifted::Unsubscribe {
                id,
                uri: required(&object, "uri")?,
            });
        }
        Method::Ping => Operation::Gateway(GatewayOperation::Ping),
        _ => common_ask(method, &object).unwrap_or_else(|| Err(no_such_method(name, revision)))?,
    };
    drop(object);
    Ok(Lifted::Request(LiftedRequest {
        id,
        method,
        operation,
        params,
        client,
        is_continuation: false,
    }))
}

fn handshake(params: &Object<'_>) -> Result<Handshake> {
    let requested = required(params, "protocolVersion")?;
    let revision = Revision::parse(&requested)
        .filter(|revision| revision.era() == Era::Legacy)
        .unwrap_or(Revision::NEWEST_LEGACY);
    let capabilities = match params.get("capabilities") {
        None => RawJson::empty_object(),
        Some(text) if text.starts_with('{') => {
            restrict_to_revision(tasks::without(kept("capabilities", text)?), revision)
        }
        Some(_) => return Err(invalid("`capabilities` must be an object")),
    };
    let client = params
        .get("clientInfo")
        .map(|text| kept("clientInfo", text))
        .transpose()?;
    Ok(Handshake {
        revision,
        capabilities,
        client,
    })
}

/// What a session keeps for as long as it lasts, within bounds.
fn kept(member: &str, text: &str) -> Result<RawJson> {
    const MOST_BYTES: usize = 64 * 1024;
    if text.len() > MOST_BYTES {
        return Err(invalid(&format!(
            "`{member}` is longer than {MOST_BYTES} bytes"
        )));
    }
    Ok(own(text))
}
