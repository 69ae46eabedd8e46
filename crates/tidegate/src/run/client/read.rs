//! `tidegate read`: prints the contents of a resource, byte for byte.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tidegate_core::{List, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::connection::GatewayConnection;
use super::output::CommandOutput;
use super::suggestions::explain_error;

/// The members of a result that are printed.
#[derive(Deserialize)]
struct ReadResult {
    contents: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: Option<String>,
    blob: Option<String>,
}

pub(super) async fn run(
    connection: &GatewayConnection,
    uri: &str,
    json: bool,
) -> anyhow::Result<CommandOutput> {
    let operation = Operation::Resource {
        uri: uri.to_owned(),
    };
    let params = serde_json::json!({ "uri": uri });
    let result = connection
        .request(Method::ResourcesRead, operation, params.into())
        .await;
    let result = match result {
        Ok(result) => result,
        Err(error) => return Err(explain_error(connection, List::Resources, uri, &error).await),
    };
    match json {
        true => Ok(CommandOutput::json(&result)),
        false => Ok(CommandOutput::data(to_bytes(&result)?)),
    }
}

/// All contents, concatenated.
fn to_bytes(result: &RawJson) -> anyhow::Result<Vec<u8>> {
    let ReadResult { contents } = result
        .read()
        .context("the source sent an invalid resource")?;
    let mut bytes = Vec::new();
    for content in contents {
        if let Some(text) = content.text {
            bytes.extend(text.into_bytes());
        } else if let Some(blob) = content.blob {
            let blob = STANDARD.decode(blob);
            bytes.extend(blob.context("the source sent a blob that is not base64")?);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Vec<u8>> {
        to_bytes(&RawJson::copy_of(text))
    }

    #[test]
    fn prints_text_and_blobs_unchanged() {
        let both = r#"{"contents":[{"uri":"a:b","text":"é\n"},{"uri":"a:c","blob":"AP8="}]}"#;
        assert_eq!(read(both).unwrap(), [0xc3, 0xa9, b'\n', 0, 0xff]);
        assert!(read(r#"{"contents":[]}"#).unwrap().is_empty());
        assert!(read(r#"{"contents":[{"blob":"?"}]}"#).is_err());
        assert!(read("{}").is_err());
    }
}
