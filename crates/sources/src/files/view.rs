//! A folder as `file://` resources: the catalog, and the changes between two snapshots.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::json;
use tidegate_core::{
    BoxFuture, Call, Catalog, CatalogEntry, CatalogGap, Change, Features, Reply,
    ResourceSubscription, Result,
};

use super::subscribed_uris::SubscribedUris;
use crate::declarations::catalog_entry;
use crate::folder::{
    FileInfo, FolderSnapshot, FolderTree, FolderView, RelativePath, ServedFolder, SnapshotFolder,
    UriBase, media_type, resource,
};

/// The variable of the template.
pub(super) const TEMPLATE_VARIABLE: &str = "path";

pub(super) fn template_text(uris: &UriBase) -> String {
    format!("{}{{+{TEMPLATE_VARIABLE}}}", uris.prefix())
}

#[derive(Default)]
pub(super) struct FilesView {
    pub(super) subscribed: Arc<SubscribedUris>,
}

impl FolderView for FilesView {
    type Details = ();

    fn features(&self) -> Features {
        Features {
            resources: true,
            subscribe: true,
            completions: true,
            ..Features::default()
        }
    }

    fn derive(&self, _: &ServedFolder, _: &FolderTree, (): &()) {}

    fn catalog(&self, folder: &ServedFolder, tree: &FolderTree, (): &()) -> Catalog {
        Catalog {
            is_built_in: true,
            gap: gap(folder, tree).map(CatalogGap::Unavailable),
            resources: resources(folder, tree),
            templates: vec![template(&template_text(&folder.uris))],
            ..Catalog::default()
        }
    }

    fn changes(
        &self,
        folder: &ServedFolder,
        current: &FolderSnapshot<()>,
        previous: &FolderSnapshot<()>,
    ) -> Vec<Change> {
        let mut changes = tree_changes(folder, current, previous);
        let announced: HashSet<_> = changes.iter().filter_map(updated_uri).collect();
        let is_announced =
            |uri: &str| announced.contains(uri) || announced.contains(&*with_slash(uri));
        let subscribed = self.subscribed.changed(|uri, last_stamp| {
            let path = folder.uris.path(uri)?;
            let stamp = folder.root.stamp(&path);
            let is_covered = is_covered_by_scan(&folder.uris, &current.tree, &path, uri);
            (!is_covered && stamp != last_stamp).then_some(stamp)
        });
        let subscribed: Vec<_> = subscribed
            .into_iter()
            .filter(|uri| !is_announced(uri))
            .collect();
        changes.extend(
            subscribed
                .into_iter()
                .map(|uri| Change::ResourceUpdated(uri.into())),
        );
        changes
    }

    fn call(files: &Arc<SnapshotFolder<Self>>, call: Call) -> BoxFuture<'_, Result<Reply>> {
        super::call(files, call)
    }

    fn subscribe(files: &Arc<SnapshotFolder<Self>>, uri: &str) -> ResourceSubscription {
        super::subscribe(files, uri)
    }

    fn counts(&self, snapshot: &FolderSnapshot<()>) -> Vec<(&'static str, usize)> {
        vec![("folders", snapshot.tree.folders.len())]
    }
}

/// The folder itself, and every file that can be read.
fn resources(folder: &ServedFolder, tree: &FolderTree) -> Vec<CatalogEntry> {
    let (uris, root) = (&folder.uris, folder.root.path());
    let uri = uris.folder_uri(&RelativePath::root());
    let name = root.file_name().unwrap_or(root.as_os_str());
    let definition = json!({
        "uri": uri,
        "name": format!("{}/", name.to_string_lossy()),
        "description": "The entries of this folder with their URIs.",
        "mimeType": media_type::JSON,
    });
    let files = listed_files(folder, tree)
        .map(|(path, file)| resource::file_entry(&uris.uri(path), &path.to_string(), None, file));
    std::iter::once(catalog_entry(&uri, definition))
        .chain(files)
        .collect()
}

/// The files that are not too large to be read.
fn listed_files<'a>(
    folder: &ServedFolder,
    tree: &'a FolderTree,
) -> impl Iterator<Item = (&'a RelativePath, &'a FileInfo)> + use<'a> {
    let max_file_bytes = folder.max_file_bytes;
    let files = tree.files.iter();
    files.filter(move |(_, file)| file.stamp.size <= max_file_bytes)
}

fn template(text: &str) -> CatalogEntry {
    let definition = json!({
        "uriTemplate": text,
        "name": "file",
        "title": "A file or folder",
        "description": "A file of this folder by its path. For the path of a folder, its entries as \
            JSON.",
    });
    catalog_entry(text, definition)
}

fn gap(folder: &ServedFolder, tree: &FolderTree) -> Option<String> {
    let limit = folder.max_entries;
    let truncated = tree.is_truncated.then(|| {
        format!(
            "more than {limit} files or folders: the others are not listed, but can be read by URI; \
             exclude some with `exclude`, or raise `max_files`"
        )
    });
    let too_large = tree.too_large(folder.max_file_bytes).map(|(count, first)| {
        let limit = folder.max_file_bytes;
        format!(
            "{count} files have more than {limit} bytes (`max_file_bytes`), for instance `{first}`"
        )
    });
    let reasons = truncated.into_iter().chain(tree.problems());
    let reasons: Vec<_> = reasons.chain(too_large).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The changes of listed files and of folders.
fn tree_changes(
    folder: &ServedFolder,
    current: &FolderSnapshot<()>,
    previous: &FolderSnapshot<()>,
) -> Vec<Change> {
    let uris = &folder.uris;
    if previous.is_loading() {
        return vec![Change::Resources];
    }
    let (now, before) = (&current.tree, &previous.tree);
    let written: Vec<_> = now
        .files
        .iter()
        .filter(|(path, file)| {
            let before = before.files.get(*path);
            before.is_none_or(|before| before.stamp != file.stamp)
        })
        .map(|(path, _)| path)
        .collect();
    let removed: Vec<_> = before
        .files
        .keys()
        .filter(|path| !now.files.contains_key(*path))
        .collect();
    let folders = added_or_removed(&now.folders, &before.folders);
    // The contents of a folder are its entries with their sizes and times, so the parents of
    // changed entries change too.
    let mut changed_folders: BTreeSet<RelativePath> = (written.iter().chain(&removed))
        .chain(&folders)
        .filter_map(|path| path.parent())
        .collect();
    changed_folders.extend(folders.into_iter().cloned());
    let files = written.iter().chain(&removed).map(|path| uris.uri(path));
    let folders = changed_folders.iter().map(|path| uris.folder_uri(path));
    let updates = files.chain(folders);
    let updates = updates.map(|uri| Change::ResourceUpdated(uri.into()));
    let listed = |tree| listed_files(folder, tree).map(|(path, _)| path);
    let is_list_changed =
        !listed(now).eq(listed(before)) || current.catalog.gap != previous.catalog.gap;
    let list = is_list_changed.then_some(Change::Resources);
    list.into_iter().chain(updates).collect()
}

fn added_or_removed<'a, T>(
    now: &'a BTreeMap<RelativePath, T>,
    before: &'a BTreeMap<RelativePath, T>,
) -> Vec<&'a RelativePath> {
    let added = now.keys().filter(|path| !before.contains_key(*path));
    let removed = before.keys().filter(|path| !now.contains_key(*path));
    added.chain(removed).collect()
}

/// Whether [`tree_changes`] reports changes under this URI. For a folder, the URI may lack the slash.
fn is_covered_by_scan(uris: &UriBase, tree: &FolderTree, path: &RelativePath, uri: &str) -> bool {
    let is_file = tree.files.contains_key(path) && uris.uri(path) == uri;
    let is_folder = || tree.folders.contains_key(path) && uris.folder_uri(path) == with_slash(uri);
    is_file || is_folder()
}

fn updated_uri(change: &Change) -> Option<&str> {
    match change {
        Change::ResourceUpdated(uri) => Some(uri),
        _ => None,
    }
}

fn with_slash(uri: &str) -> Cow<'_, str> {
    match uri.ends_with('/') {
        true => uri.into(),
        false => format!("{uri}/").into(),
    }
}
