//! `tidegate read`: what a resource holds, byte for byte.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tidegate_core::{List, Operation, RawJson};
use tidegate_mcp::revision::Method;

use super::answer::Answer;
use super::place::Place;
use super::unknown::explained;

/// The result, as far as it is printed.
#[derive(Deserialize)]
struct Contents {
    contents: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    text: Option<String>,
    blob: Option<String>,
}

pub(super) async fn answer(place: &Place, uri: &str, json: bool) -> anyhow::Result<Answer> {
    let operation = Operation::Resource {
        uri: uri.to_owned(),
    };
    let params = serde_json::json!({ "uri": uri });
    let result = match place
        .ask(Method::ResourcesRead, operation, params.into())
        .await
    {
        Ok(result) => result,
        Err(error) => return Err(explained(place, List::Resources, uri, &error).await),
    };
    match json {
        true => Ok(Answer::json(&result)),
        false => Ok(Answer::of(bytes(&result)?)),
    }
}

/// All contents, one after the other, with nothing between them.
fn bytes(result: &RawJson) -> anyhow::Result<Vec<u8>> {
    let Contents { contents } = result
        .read()
        .context("the source's answer is no content of a resource")?;
    let mut bytes = Vec::new();
    for content in contents {
        if let Some(text) = content.text {
            bytes.extend(text.into_bytes());
        } else if let Some(blob) = content.blob {
            let blob = STANDARD.decode(blob);
            bytes.extend(blob.context("the source's answer has bytes that are not base64")?);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Vec<u8>> {
        bytes(&RawJson::copy_of(text))
    }

    #[test]
    fn contents_are_printed_as_they_are() {
        let both = r#"{"contents":[{"uri":"a:b","text":"é\n"},{"uri":"a:c","blob":"AP8="}]}"#;
        assert_eq!(read(both).unwrap(), [0xc3, 0xa9, b'\n', 0, 0xff]);
        assert!(read(r#"{"contents":[]}"#).unwrap().is_empty());
        assert!(read(r#"{"contents":[{"blob":"?"}]}"#).is_err());
        assert!(read("{}").is_err());
    }
}
