//! Lifting a stateless request. The order of the checks is the protocol's, and clients test it.

use tidegate_core::{
    Code, Error, GatewayOperation, Object, Operation, RawJson, Result, TaskOperation,
    truncate_for_message,
};

use super::headers::mismatch;
use super::lift::{Lifted, LiftedRequest, common_ask, filter, members, no_such_method};
use super::meta::Meta;
use super::methods::{Kind, Method};
use super::multi_round_trip::is_retry;
use super::{Era, Revision, StandardHeaders, sentinel, tasks};
use crate::RequestId;

pub(super) fn request(
    id: &RequestId,
    method: &str,
    params: RawJson,
    headers: Option<&StandardHeaders>,
) -> Result<(Revision, Lifted)> {
    let object = members(&params)?;
    let meta = Meta::read(&object)?;
    if let Some(headers) = headers {
        check_version_header(headers, &meta.version)?;
    }
    let revision = supported(&meta.version)?;
    if let Some(headers) = headers {
        check_method_headers(headers, method, &object)?;
    }
    let method = Method::from_client(method, revision, Kind::Request)
        .ok_or_else(|| no_such_method(method, revision))?;
    let operation = match method {
        Method::Discover => Operation::Gateway(GatewayOperation::Discover),
        Method::Listen => Operation::Gateway(GatewayOperation::Listen(filter(&object)?)),
        Method::TasksGet => tasks::ask(TaskOperation::Get, &object)?,
        Method::TasksUpdate => tasks::ask(TaskOperation::Update, &object)?,
        Method::TasksCancel => tasks::ask(TaskOperation::Cancel, &object)?,
        _ => common_ask(method, &object)
            .unwrap_or_else(|| Err(no_such_method(method.name(), revision)))?,
    };
    let client = meta.client()?;
    if tasks::is_about(&operation) && !tasks::declares(&client.capabilities) {
        return Err(tasks::undeclared());
    }
    let is_continuation = is_retry(&object);
    drop(object);
    Ok((
        revision,
        Lifted::Request(LiftedRequest {
            id: id.clone(),
            method,
            operation,
            params,
            client,
            is_continuation,
        }),
    ))
}

fn check_version_header(headers: &StandardHeaders, version: &str) -> Result<()> {
    match headers.version.as_deref() {
        Some(header) if header == version => Ok(()),
        Some(_) => Err(mismatch(
            "`MCP-Protocol-Version` is not the version in `_meta`".to_owned(),
        )),
        None => Err(mismatch(
            "the header `MCP-Protocol-Version` is missing".to_owned(),
        )),
    }
}

fn supported(version: &str) -> Result<Revision> {
    let modern = Revision::parse(version).filter(|revision| revision.era() == Era::Modern);
    modern.ok_or_else(|| {
        let shown = truncate_for_message(version);
        // The one it asked for cannot be spoken like this, so it is no way out.
        let supported: Vec<_> = Revision::supported()
            .filter(|known| *known != version)
            .collect();
        Error::client(
            Code::UnsupportedRevision,
            format!(
                "revision `{shown}` cannot be spoken without a session; {} can",
                Revision::NEWEST
            ),
        )
        .with_data(serde_json::json!({ "supported": supported, "requested": version }))
    })
}

fn check_method_headers(
    headers: &StandardHeaders,
    method: &str,
    params: &Object<'_>,
) -> Result<()> {
    match headers.method.as_deref() {
        Some(header) if header == method => {}
        Some(_) => {
            return Err(mismatch(
                "`Mcp-Method` is not the method of the body".to_owned(),
            ));
        }
        None => return Err(mismatch("the header `Mcp-Method` is missing".to_owned())),
    }
    let member = Method::from_client(method, Revision::NEWEST, Kind::Request)
        .and_then(|method| method.row().addressed_by.member());
    match member {
        None => Ok(()),
        Some(member) => check_name_header(headers.name.as_deref(), member, params.string(member)),
    }
}

fn check_name_header(header: Option<&str>, member: &str, body: Option<String>) -> Result<()> {
    match (header, body) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch("the header `Mcp-Name` is missing".to_owned())),
        (Some(header), body) => match sentinel::decode(header) {
            None => Err(mismatch("`Mcp-Name` is not valid base64 text".to_owned())),
            Some(decoded) if Some(decoded.as_ref()) == body.as_deref() => Ok(()),
            Some(_) => Err(mismatch(format!(
                "`Mcp-Name` is not the `{member}` of the body"
            ))),
        },
    }
}
