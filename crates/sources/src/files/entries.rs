//! How files and folders look to clients: in lists, and when they are read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{CatalogEntry, Code, Error, ErrorOrigin, Result};

use crate::declarations::{ResourceContents, catalog_entry};
use crate::folder::{Base, Contents, File, Level, Place, Root, Unread, media};

/// The variable of the template.
pub(super) const VARIABLE: &str = "path";

/// The folder itself, and each file that can be read: what is listed works.
pub(super) fn resources(
    base: &Base,
    root: &Root,
    files: &BTreeMap<Place, File>,
    max_file_bytes: u64,
) -> Vec<CatalogEntry> {
    let uri = base.folder_uri(&Place::top());
    let name = root.path().file_name().unwrap_or(root.path().as_os_str());
    let top = json!({
        "uri": uri,
        "name": format!("{}/", name.to_string_lossy()),
        "description": "What is in this folder, with the URI of each entry.",
        "mimeType": media::JSON,
    });
    let files = files
        .iter()
        .filter(|(_, file)| file.stamp.size <= max_file_bytes)
        .map(|(place, file)| resource(&base.uri(place), &place.to_string(), None, file));
    std::iter::once(catalog_entry(&uri, top))
        .chain(files)
        .collect()
}

/// A file in a list.
pub(crate) fn resource(uri: &str, name: &str, about: Option<&str>, file: &File) -> CatalogEntry {
    let mut definition = json!({ "uri": uri, "name": name });
    if let Some(about) = about {
        definition["description"] = about.into();
    }
    definition["mimeType"] = file.mime.into();
    definition["size"] = file.stamp.size.into();
    if let Some(modified) = rfc3339(file.stamp.modified()) {
        definition["annotations"] = json!({ "lastModified": modified });
    }
    catalog_entry(uri, definition)
}

pub(super) fn template(text: &str) -> CatalogEntry {
    let definition = json!({
        "uriTemplate": text,
        "name": "file",
        "title": "A file or folder",
        "description": "A file of this folder by its path. The path of a folder gives what is in it, \
            as JSON.",
    });
    catalog_entry(text, definition)
}

/// What was read, as an item of `contents` under the URI it was asked for by (X25).
pub(crate) fn item(base: &Base, place: &Place, uri: &str, contents: Contents) -> Result<Value> {
    let (body, mime) = match contents {
        Contents::File { bytes, mime } if media::is_text(mime) => (text_or_bytes(bytes), mime),
        Contents::File { bytes, mime } => (ResourceContents::bytes(bytes), mime),
        Contents::Folder(level) => (
            ResourceContents::json(&Listing::of(base, place, &level))?,
            media::JSON,
        ),
    };
    Ok(body.into_item(uri, mime))
}

/// Why something was not read, for whoever asked.
pub(crate) fn unread(uri: &str, limit: u64, unread: Unread) -> Error {
    match unread {
        Unread::Nothing => Error::resource_not_found(uri),
        Unread::TooLarge { size } => {
            let message =
                format!("the file has {size} bytes, and at most {limit} are read at once");
            let data = json!({ "uri": uri, "size": size, "limit": limit });
            Error::client(Code::InvalidParams, message).with_data(data)
        }
        Unread::Refused(error) => {
            let message = format!("the system does not let it be read: {}", error.kind());
            let failed = Error::new(Code::SourceFailed, ErrorOrigin::Source, message);
            failed.with_uri(uri).with_cause(error)
        }
    }
}

/// What turns out not to be text further down is given as bytes.
fn text_or_bytes(bytes: Vec<u8>) -> ResourceContents {
    match media::text(bytes) {
        Ok(text) => ResourceContents::text(text),
        Err(bytes) => ResourceContents::bytes(bytes),
    }
}

/// A folder, read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    uri: String,
    entries: Vec<Listed>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_incomplete: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

impl Listing {
    /// The names are those of where the folder is; the URIs are below the one it was asked for by.
    fn of(base: &Base, asked: &Place, level: &Level) -> Self {
        let here = |place: &Place| asked.join(place.name()?);
        let name =
            |place: &Place| String::from_utf8_lossy(place.name().unwrap_or_default()).into_owned();
        let folders = level.folders.iter().filter_map(|place| {
            Some(Listed {
                name: name(place),
                kind: "folder",
                uri: base.folder_uri(&here(place)?),
                mime_type: None,
                size: None,
                last_modified: None,
            })
        });
        let files = level.files.iter().filter_map(|(place, file)| {
            Some(Listed {
                name: name(place),
                kind: "file",
                uri: base.uri(&here(place)?),
                mime_type: Some(file.mime),
                size: Some(file.stamp.size),
                last_modified: rfc3339(file.stamp.modified()),
            })
        });
        Self {
            uri: base.folder_uri(asked),
            entries: folders.chain(files).collect(),
            is_incomplete: level.is_cut,
        }
    }
}

/// A time as clients read it; none for times that cannot be written so.
fn rfc3339(time: SystemTime) -> Option<String> {
    // What comes before would be a panic, and what is too far ahead an error.
    time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let mut text = String::new();
    write!(text, "{}", humantime::format_rfc3339_seconds(time)).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_that_cannot_be_written_is_left_out() {
        let epoch = SystemTime::UNIX_EPOCH;
        assert_eq!(rfc3339(epoch).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(rfc3339(epoch - Duration::from_secs(1)), None);
        assert_eq!(rfc3339(epoch + Duration::from_secs(1 << 45)), None);
    }
}
