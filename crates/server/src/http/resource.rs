//! GET on `/v1/resource`: reads one resource, for HTTP clients that do not know MCP.
//!
//! The read is a `resources/read` at the endpoint of all sources, with the same authentication, layers
//! and limits. Its body is the content itself; errors are those of MCP, with the status that describes
//! them.

use std::sync::Arc;

use ::http::{HeaderMap, HeaderValue, Request};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use tidegate_core::{
    CacheHint, ClientContext, Code, Error, ErrorOrigin, Operation, Outcome, Principal, RawJson,
    Result, Scope, Step, percent_decode_utf8, truncate_for_message,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::{Method, error_response};

use super::respond::{ErrorStatus, ResourceBody};
use super::{Http, respond};
use crate::Admission;
use crate::error_response::record_rejection;
use crate::outgoing::MIN_COUNTED_BYTES;
use crate::requester::Requester;
use crate::shared_pool::SharedPermit;

/// Where the content type of a resource is unknown or malformed.
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";

impl ResourceBody {
    /// Counts its bytes as unread until the client has read them.
    fn count_unread(self, admission: &Admission, principal: &Principal) -> Result<Self> {
        if self.bytes.len() < MIN_COUNTED_BYTES {
            return Ok(self);
        }
        let counted = CountedBytes {
            _permit: admission.unread_permit(principal, self.bytes.len())?,
            bytes: self.bytes,
        };
        Ok(Self {
            bytes: Bytes::from_owner(counted),
            ..self
        })
    }
}

/// Bytes with their permit.
struct CountedBytes {
    bytes: Bytes,
    _permit: SharedPermit,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

pub(super) async fn get(State(http): State<Arc<Http>>, request: Request<Body>) -> Response {
    let (parts, _) = request.into_parts();
    let read = request_for(&http, parts.uri.query(), &parts.headers).await;
    let request = match read {
        Ok(request) => request,
        Err(error) => {
            let admission = &http.transports.admission;
            return respond::error(admission, ErrorStatus::Mapped, &error.into());
        }
    };
    let (correlation_id, principal) = (request.correlation_id, request.caller.principal.clone());
    let outcome = http.transports.outcome_of(request).await;
    let admission = &http.transports.admission;
    let body = outcome.map(|outcome| {
        let (body, cache) = into_body(outcome)?;
        Ok((body.count_unread(admission, &principal)?, cache))
    });
    let error = match body {
        Ok(Ok((body, cache))) => return respond::resource(body, cache),
        Ok(Err(error)) => {
            record_rejection(admission, correlation_id, &error);
            error
        }
        Err(error) => error,
    };
    let message = error_response(Era::Modern, None, &error, correlation_id);
    respond::json(ErrorStatus::Mapped, Era::Modern, message)
}

/// The request to read the resource, of a client that declares no capabilities.
async fn request_for(
    http: &Http,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<tidegate_core::Request> {
    let requester = Requester {
        caller: http.identify(headers).await?,
        scope: Scope::All,
        affinity: None,
    };
    let uri = uri_parameter(query)?;
    let params = RawJson::copy_of(&format!(r#"{{"uri":{}}}"#, RawJson::string(&uri)));
    let operation = Operation::Resource { uri };
    let client = ClientContext::of_gateway();
    Ok(requester.request(Method::ResourcesRead, operation, params, client))
}

/// The only parameter of the query. A URI that was not encoded would be cut at its first `&`, so other
/// parameters are rejected.
fn uri_parameter(query: Option<&str>) -> Result<String> {
    let mut value = None;
    let parameters = query.unwrap_or_default().split('&');
    for parameter in parameters.filter(|parameter| !parameter.is_empty()) {
        let (name, text) = parameter.split_once('=').unwrap_or((parameter, ""));
        if name != "uri" {
            let name = truncate_for_message(name);
            return Err(invalid_query(&format!(
                "unknown query parameter `{name}`; if it is part of the URI, encode `&` as `%26`"
            )));
        }
        if value.replace(text).is_some() {
            return Err(invalid_query("the query parameter `uri` occurs twice"));
        }
    }
    // Forms encode spaces as plus signs, and plus signs as `%2B`.
    let encoded = value.unwrap_or_default().replace('+', " ");
    let uri = percent_decode_utf8(&encoded)
        .ok_or_else(|| invalid_query("the query parameter `uri` is not UTF-8"))?;
    match uri.is_empty() {
        true => Err(invalid_query(
            "the query parameter `uri` is missing: GET /v1/resource?uri=URI",
        )),
        false => Ok(uri.into_owned()),
    }
}

fn invalid_query(message: &str) -> Error {
    Error::client(Code::InvalidRequest, message)
}

/// The result of a read, as far as its body depends on it.
#[derive(Deserialize)]
struct ReadResult {
    contents: Vec<ResourceContents>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceContents {
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

/// The body of one text or blob is its content. Several contents have no common form in HTTP: their
/// body is the result itself.
fn into_body(outcome: Outcome) -> Result<(ResourceBody, Option<CacheHint>)> {
    let (result, cache) = match outcome {
        Outcome::Complete { result, hint } => (result, hint),
        Outcome::InputRequired(_) | Outcome::Question { .. } | Outcome::Task(_) => {
            return Err(needs_input());
        }
    };
    let malformed = |_| source_failed("the source's result is malformed");
    let ReadResult { mut contents } = result.read().map_err(malformed)?;
    let single = contents.pop().filter(|_| contents.is_empty());
    let body = match single {
        Some(ResourceContents {
            mime_type,
            text: Some(text),
            ..
        }) => ResourceBody {
            content_type: content_type(mime_type.as_deref(), true),
            bytes: text.into(),
        },
        Some(ResourceContents {
            mime_type,
            blob: Some(blob),
            ..
        }) => {
            let malformed = |_| source_failed("the resource's blob is not valid Base64");
            ResourceBody {
                content_type: content_type(mime_type.as_deref(), false),
                bytes: STANDARD.decode(blob).map_err(malformed)?.into(),
            }
        }
        _ => ResourceBody {
            content_type: HeaderValue::from_static("application/json"),
            bytes: result.as_str().to_owned().into(),
        },
    };
    Ok((body, cache))
}

/// The content type of a MIME type that a source wrote. Text is sent as UTF-8, whatever it was.
fn content_type(mime_type: Option<&str>, is_text: bool) -> HeaderValue {
    let default = if is_text { PLAIN_TEXT } else { BYTES };
    let build = || {
        let mime_type = mime_type?;
        let (essence, parameters) = mime_type.split_once(';').unwrap_or((mime_type, ""));
        let essence = essence.trim();
        let (kind, subtype) = essence.split_once('/')?;
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let parameters = parameters.split(';').map(str::trim).filter(|parameter| {
            let is_charset = parameter
                .get(..8)
                .is_some_and(|name| name.eq_ignore_ascii_case("charset="));
            let is_replaced = is_text && is_charset;
            !parameter.is_empty() && !is_replaced
        });
        let needs_charset = is_text && kind.eq_ignore_ascii_case("text");
        let charset = needs_charset.then_some("charset=utf-8");
        let parts: Vec<_> = [essence]
            .into_iter()
            .chain(parameters)
            .chain(charset)
            .collect();
        HeaderValue::try_from(parts.join("; ")).ok()
    };
    build().unwrap_or(HeaderValue::from_static(default))
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_allowed)
}

fn needs_input() -> Error {
    let message = "the resource needs input from its reader, such as an elicitation; read it with an \
        MCP client";
    Error::client(Code::MissingCapability, message).at(Step::Lower)
}

fn source_failed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message).at(Step::Lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_query() {
        for (query, uri) in [
            ("uri=file:///a", "file:///a"),
            ("uri=file%3A%2F%2F%2Fa%20b%26c", "file:///a b&c"),
            ("uri=a://b+c%2Bd", "a://b c+d"),
            ("&uri=a://b?c=d&", "a://b?c=d"),
            ("uri=a://100%25%zz", "a://100%%zz"),
        ] {
            assert_eq!(uri_parameter(Some(query)).unwrap(), uri, "{query}");
        }
        for query in [
            None,
            Some(""),
            Some("uri"),
            Some("uri="),
            Some("uri=a://b&uri=a://b"),
            Some("uri=a://b&x=1"),
            Some("URI=a://b"),
            Some("uri=%ff"),
        ] {
            let error = uri_parameter(query).unwrap_err();
            assert_eq!(error.code(), Code::InvalidRequest, "{query:?}");
        }
    }

    #[test]
    fn content_types_are_valid_headers() {
        for (mime_type, is_text, expected) in [
            (None, true, PLAIN_TEXT),
            (None, false, BYTES),
            (Some("text/html"), true, "text/html; charset=utf-8"),
            (
                Some("text/html;profile=mcp-app; Charset=latin1"),
                true,
                "text/html; profile=mcp-app; charset=utf-8",
            ),
            (Some("application/json"), true, "application/json"),
            (Some("image/png"), false, "image/png"),
            (
                Some("text/csv;charset=latin1"),
                false,
                "text/csv; charset=latin1",
            ),
            (Some("nonsense"), true, PLAIN_TEXT),
            (Some("a/b c"), false, BYTES),
            (Some("text/html\r\nX: y"), true, PLAIN_TEXT),
            (Some("text/plain; a=\"\n\""), true, PLAIN_TEXT),
        ] {
            assert_eq!(content_type(mime_type, is_text), expected, "{mime_type:?}");
        }
    }
}
