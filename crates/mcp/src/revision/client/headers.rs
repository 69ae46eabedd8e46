//! The headers of a stateless request: they repeat what the body says.

use tidegate_core::{Object, RawJson};

use super::super::{Method, Revision, param_headers, sentinel};
use super::OutboundRequest;

/// The headers for one request. `definition` is that of the tool that is called, where it is known.
pub fn modern_headers(
    revision: Revision,
    outbound: &OutboundRequest,
    definition: Option<&RawJson>,
) -> Vec<(String, String)> {
    let mut headers = vec![
        (
            "mcp-protocol-version".to_owned(),
            revision.as_str().to_owned(),
        ),
        ("mcp-method".to_owned(), outbound.method.name().to_owned()),
    ];
    if let Some(address) = &outbound.address {
        headers.push(("mcp-name".to_owned(), sentinel::encode(address)));
    }
    if outbound.method == Method::ToolsCall
        && let Some(definition) = definition.filter(|one| param_headers::are_in(one))
        && let Ok(message) = Object::parse(&outbound.json)
        && let Some(params) = message.get("params")
    {
        let repeated = param_headers::repeated(definition, &RawJson::copy_of(params));
        let named = repeated.into_iter().map(|(name, value)| {
            (
                format!("mcp-param-{}", name.to_ascii_lowercase()),
                sentinel::encode(&value),
            )
        });
        headers.extend(named);
    }
    headers
}
