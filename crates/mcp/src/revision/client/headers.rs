//! The headers of a modern request, which repeat parts of its body.

use tidegate_core::{Object, RawJson};

use super::super::methods::Method;
use super::super::version::Revision;
use super::super::{header_value, param_headers};
use super::request::OutboundRequest;

/// The headers of a notification.
pub fn modern_notification_headers(revision: Revision, method: &str) -> Vec<(String, String)> {
    vec![
        (
            "mcp-protocol-version".to_owned(),
            revision.as_str().to_owned(),
        ),
        ("mcp-method".to_owned(), method.to_owned()),
    ]
}

/// The headers of a request. `definition` is the definition of the called tool, if known.
pub fn modern_headers(
    revision: Revision,
    outbound: &OutboundRequest,
    definition: Option<&RawJson>,
) -> Vec<(String, String)> {
    let mut headers = modern_notification_headers(revision, outbound.method_name());
    if let Some(name) = &outbound.name {
        headers.push(("mcp-name".to_owned(), header_value::encode(name)));
    }
    if outbound.method == Method::ToolsCall
        && let Some(definition) =
            definition.filter(|tool| param_headers::may_have_annotations(tool))
        && let Ok(message) = Object::parse(&outbound.json)
        && let Some(params) = message.get("params")
    {
        let params = RawJson::copy_of(params);
        let param_headers = param_headers::headers_of_call(definition, &params)
            .into_iter()
            .map(|(name, value)| {
                (
                    format!("mcp-param-{}", name.to_ascii_lowercase()),
                    header_value::encode(&value),
                )
            });
        headers.extend(param_headers);
    }
    headers
}
