//! Step 4, lift, for the modern era: a message into a request of the core. The protocol fixes the
//! order of the checks.

use tidegate_core::{
    Code, Era, Error, GatewayOperation, Object, Operation, RawJson, Result, TaskOperation,
    truncate_for_message,
};

use super::change_filter::parse_filter;
use super::lifted::{Lifted, LiftedRequest};
use super::meta::RequestMeta;
use super::methods::{Method, MethodKind};
use super::multi_round_trip::is_continuation;
use super::params::{common_operation, method_not_found, method_of, parse_params};
use super::standard_headers::{StandardHeaders, header_mismatch};
use super::version::Revision;
use super::{header_value, tasks};
use crate::message::{Message, Rejection};
use crate::request_id::RequestId;

/// Lifts a message of the modern era. `headers` are the HTTP headers; stdio has none.
pub fn lift_modern(
    message: Message,
    headers: Option<&StandardHeaders>,
) -> Result<(Revision, Lifted), Rejection> {
    match message {
        Message::Request { id, method, params } => {
            let params = params.unwrap_or_else(RawJson::empty_object);
            match lift_request(&id, &method, params, headers) {
                Ok(lifted) => Ok(lifted),
                Err(error) => Err((Some(id), error)),
            }
        }
        Message::Notification { method, params } => {
            let lifted = Lifted::from_notification(Revision::NEWEST, &method, params.as_ref());
            Ok((Revision::NEWEST, lifted))
        }
        // The error has no id, because the id of a response is one of our own ids.
        Message::Response { .. } => Err((
            None,
            Error::client(
                Code::InvalidRequest,
                "unexpected response: servers send no requests in this revision",
            ),
        )),
    }
}

fn lift_request(
    id: &RequestId,
    method: &str,
    params: RawJson,
    headers: Option<&StandardHeaders>,
) -> Result<(Revision, Lifted)> {
    let members = parse_params(&params)?;
    let meta = RequestMeta::parse(&members)?;
    if let Some(headers) = headers {
        check_version_header(headers, &meta.version)?;
    }
    let revision = supported_revision(&meta.version)?;
    if let Some(headers) = headers {
        check_method_headers(headers, method, &members)?;
    }
    let (method, extension) = method_of(method, revision)?;
    let operation = match method {
        Method::Discover => Operation::Gateway(GatewayOperation::Discover),
        Method::Listen => Operation::Gateway(GatewayOperation::Listen(parse_filter(&members)?)),
        Method::TasksGet => tasks::parse_operation(TaskOperation::Get, &members)?,
        Method::TasksUpdate => tasks::parse_operation(TaskOperation::Update, &members)?,
        Method::TasksCancel => tasks::parse_operation(TaskOperation::Cancel, &members)?,
        _ => match extension {
            Some(operation) => operation,
            None => common_operation(method, &members)
                .unwrap_or_else(|| Err(method_not_found(method.name(), revision)))?,
        },
    };
    let client = meta.into_client()?;
    if tasks::requires_tasks(&operation) && !tasks::declares_tasks(&client.capabilities) {
        return Err(tasks::tasks_not_declared());
    }
    let is_continuation = is_continuation(&members);
    drop(members);
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
        Some(_) => Err(header_mismatch(
            "header `MCP-Protocol-Version` does not match the version in `_meta`".to_owned(),
        )),
        None => Err(header_mismatch(
            "header `MCP-Protocol-Version` is missing".to_owned(),
        )),
    }
}

fn supported_revision(version: &str) -> Result<Revision> {
    let modern = Revision::parse(version).filter(|revision| revision.era() == Era::Modern);
    modern.ok_or_else(|| {
        // The requested revision may be supported with a session, but not for this request.
        let supported: Vec<_> = Revision::supported()
            .filter(|supported| *supported != version)
            .collect();
        Error::client(
            Code::UnsupportedRevision,
            format!(
                "revision `{}` cannot be used without a session; use {}",
                truncate_for_message(version),
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
            return Err(header_mismatch(
                "header `Mcp-Method` does not match the method in the body".to_owned(),
            ));
        }
        None => {
            return Err(header_mismatch("header `Mcp-Method` is missing".to_owned()));
        }
    }
    let member = Method::from_client(method, Revision::NEWEST, MethodKind::ClientRequest)
        .and_then(|method| method.spec().name_param.member());
    match member {
        None => Ok(()),
        Some(member) => check_name_header(headers.name.as_deref(), member, params.string(member)),
    }
}

fn check_name_header(header: Option<&str>, member: &str, body: Option<String>) -> Result<()> {
    match (header, body) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(header_mismatch("header `Mcp-Name` is missing".to_owned())),
        (Some(header), body) => match header_value::decode(header) {
            None => Err(header_mismatch(
                "header `Mcp-Name` is not valid base64".to_owned(),
            )),
            Some(decoded) if Some(decoded.as_ref()) == body.as_deref() => Ok(()),
            Some(_) => Err(header_mismatch(format!(
                "header `Mcp-Name` does not match `{member}` in the body"
            ))),
        },
    }
}
