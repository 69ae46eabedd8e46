//! `tidegate read`: prints the contents of a resource, byte for byte.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use anyhow::{Context as _, bail};
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
    output: Option<&Path>,
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
    if json {
        return Ok(CommandOutput::json(&result));
    }
    let bytes = to_bytes(&result)?;
    if let Some(file) = output {
        let written = std::fs::write(file, bytes);
        written.with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(CommandOutput::data([]));
    }
    if io::stdout().is_terminal() && !is_text(&bytes) {
        let size = bytes.len();
        bail!("the contents are binary ({size} bytes): write them to a file with --output FILE");
    }
    Ok(CommandOutput::data(bytes))
}

/// Whether a terminal can show the contents.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
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
    fn only_text_is_shown_on_a_terminal() {
        assert!(is_text("é\n".as_bytes()) && is_text(b""));
        assert!(!is_text(&[0xff, b'a']) && !is_text(b"a\0b"));
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
