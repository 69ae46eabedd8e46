//! Files and folders as MCP resources: catalog entries, contents and read errors.

use std::fmt::Write as _;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::{Value, json};
use tidegate_core::{CatalogEntry, Code, Error, ErrorOrigin, Result};

use super::read::{ReadContents, ReadError};
use super::scan::FolderListing;
use super::served::ServedFolder;
use super::{FileInfo, RelativePath, media_type};
use crate::declarations::{ResourceContents, catalog_entry};

/// The catalog entry of a file.
pub(crate) fn file_entry(
    uri: &str,
    name: &str,
    description: Option<&str>,
    file: &FileInfo,
) -> CatalogEntry {
    let mut definition = json!({ "uri": uri, "name": name });
    if let Some(description) = description {
        definition["description"] = description.into();
    }
    definition["mimeType"] = file.mime.into();
    definition["size"] = file.stamp.size.into();
    if let Some(modified) = format_time(file.stamp.modified()) {
        definition["annotations"] = json!({ "lastModified": modified });
    }
    catalog_entry(uri, definition)
}

/// An item of a read result's `contents`.
pub(super) fn contents_item(
    folder: &ServedFolder,
    path: &RelativePath,
    uri: &str,
    contents: ReadContents,
) -> Result<Value> {
    let (contents, mime) = match contents {
        ReadContents::File { bytes, mime } if media_type::is_text(mime) => {
            (text_or_bytes(bytes), mime)
        }
        ReadContents::File { bytes, mime } => (ResourceContents::bytes(bytes), mime),
        ReadContents::Folder(listing) => (
            ResourceContents::json(&FolderJson::new(folder, path, &listing))?,
            media_type::JSON,
        ),
    };
    Ok(contents.into_item(uri, mime))
}

/// The error for the caller of a read.
pub(super) fn read_error(uri: &str, limit: u64, error: ReadError) -> Error {
    match error {
        ReadError::NotFound => Error::resource_not_found(uri),
        ReadError::TooLarge { size } => {
            let message = format!("the file has {size} bytes; the limit is {limit}");
            let data = json!({ "uri": uri, "size": size, "limit": limit });
            Error::client(Code::InvalidParams, message).with_data(data)
        }
        ReadError::Io(error) => {
            let message = format!("cannot read the file: {}", error.kind());
            let failed = Error::new(Code::SourceFailed, ErrorOrigin::Source, message);
            failed.with_uri(uri).with_cause(error)
        }
    }
}

/// The type is detected from the first bytes; a later byte may still not be text.
fn text_or_bytes(bytes: Vec<u8>) -> ResourceContents {
    match media_type::into_text(bytes) {
        Ok(text) => ResourceContents::text(text),
        Err(bytes) => ResourceContents::bytes(bytes),
    }
}

/// The contents of a folder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FolderJson {
    uri: String,
    entries: Vec<FolderEntryJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_incomplete: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FolderEntryJson {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Missing for a file that is too large to be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

impl FolderJson {
    /// The URIs are below the requested path, which may be a link to the listed folder.
    fn new(folder: &ServedFolder, requested: &RelativePath, listing: &FolderListing) -> Self {
        let uris = &folder.uris;
        let below_requested = |path: &RelativePath| requested.join(path.name()?);
        let name = |path: &RelativePath| {
            let name = path.name().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        let folders = listing.folders.iter().filter_map(|path| {
            Some(FolderEntryJson {
                name: name(path),
                kind: "folder",
                uri: Some(uris.folder_uri(&below_requested(path)?)),
                mime_type: None,
                size: None,
                last_modified: None,
            })
        });
        let files = listing.files.iter().filter_map(|(path, file)| {
            let is_readable = file.stamp.size <= folder.max_file_bytes;
            let uri = uris.uri(&below_requested(path)?);
            Some(FolderEntryJson {
                name: name(path),
                kind: "file",
                uri: is_readable.then_some(uri),
                mime_type: Some(file.mime),
                size: Some(file.stamp.size),
                last_modified: format_time(file.stamp.modified()),
            })
        });
        Self {
            uri: uris.folder_uri(requested),
            entries: folders.chain(files).collect(),
            is_incomplete: listing.is_truncated,
        }
    }
}

/// RFC 3339; `None` for times out of its range.
fn format_time(time: SystemTime) -> Option<String> {
    // humantime panics before the epoch, and returns an error in the far future.
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
    fn omits_times_out_of_range() {
        let epoch = SystemTime::UNIX_EPOCH;
        assert_eq!(format_time(epoch).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(format_time(epoch - Duration::from_secs(1)), None);
        assert_eq!(format_time(epoch + Duration::from_secs(1 << 45)), None);
    }
}
