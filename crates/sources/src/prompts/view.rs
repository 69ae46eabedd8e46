//! A folder as prompts and skills: the catalog, and the changes between two snapshots.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use serde_json::json;
use tidegate_core::extensions::SKILLS;
use tidegate_core::{
    BoxFuture, Call, Catalog, CatalogEntry, CatalogGap, Change, Features, RawJson, Reply, Result,
    truncate_for_message,
};

use super::library::Library;
use super::skill::SKILL_FILE;
use crate::folder::{
    FileInfo, FolderSnapshot, FolderTree, FolderView, RelativePath, ServedFolder, SnapshotFolder,
    resource,
};

/// Declares the extension for skills.
static DECLARATION: LazyLock<RawJson> = LazyLock::new(|| {
    let extensions = json!({ SKILLS: { "directoryRead": true } });
    json!({ "capabilities": { "extensions": extensions } }).into()
});

pub(super) struct PromptsView;

impl FolderView for PromptsView {
    type Details = Library;

    fn features(&self) -> Features {
        Features {
            prompts: true,
            resources: true,
            subscribe: true,
            completions: true,
            ..Features::default()
        }
    }

    fn derive(&self, folder: &ServedFolder, tree: &FolderTree, previous: &Library) -> Library {
        Library::read(&folder.root, tree, previous)
    }

    fn catalog(&self, folder: &ServedFolder, tree: &FolderTree, library: &Library) -> Catalog {
        let prompts = library.prompts.values().map(|prompt| prompt.entry());
        Catalog {
            is_built_in: true,
            gap: gap(folder, tree, library).map(CatalogGap::Unavailable),
            prompts: prompts.collect(),
            resources: resources(folder, tree, library),
            declaration: Some(DECLARATION.clone()),
            ..Catalog::default()
        }
    }

    fn changes(
        &self,
        folder: &ServedFolder,
        current: &FolderSnapshot<Library>,
        previous: &FolderSnapshot<Library>,
    ) -> Vec<Change> {
        let (now, before) = (&current.catalog, &previous.catalog);
        let prompts = (now.prompts != before.prompts).then_some(Change::Prompts);
        let resources = listed_files(folder, current) != listed_files(folder, previous);
        let resources = resources.then_some(Change::Resources);
        let lists = prompts.into_iter().chain(resources);
        if previous.is_loading() {
            return lists.collect();
        }
        let written = changed_files(folder, current, previous);
        let removed = changed_files(folder, previous, current)
            .filter(|path| !current.tree.files.contains_key(*path));
        let updated = written.chain(removed);
        let updated = updated.map(|path| Change::ResourceUpdated(folder.uris.uri(path).into()));
        lists.chain(updated).collect()
    }

    fn call(folder: &Arc<SnapshotFolder<Self>>, call: Call) -> BoxFuture<'_, Result<Reply>> {
        super::call(folder, call)
    }

    fn counts(&self, snapshot: &FolderSnapshot<Library>) -> Vec<(&'static str, usize)> {
        let library = &snapshot.details;
        vec![
            ("skills", library.skills.len()),
            ("problems", library.problems.len()),
        ]
    }

    fn log_problems(&self, source: &str, current: &Library, previous: &Library) -> bool {
        for problem in &current.problems {
            if !previous.problems.contains(problem) {
                tracing::warn!(source, %problem, "invalid prompt file");
            }
        }
        !current.problems.is_empty()
    }
}

/// The listed files, with the texts of their entries. Without sizes and times: their changes are
/// updates of the resources.
fn listed_files<'a>(
    folder: &ServedFolder,
    snapshot: &'a FolderSnapshot<Library>,
) -> BTreeSet<(&'a RelativePath, &'a str)> {
    let library = &snapshot.details;
    let files = skill_files(folder, &snapshot.tree, library);
    let files = files.filter_map(|(path, _)| {
        let (_, skill) = library.skill_of(path)?;
        Some((path, skill.description.as_str()))
    });
    files.collect()
}

/// The files of skills that differ from those of another snapshot, or are not in it.
fn changed_files<'a>(
    folder: &ServedFolder,
    snapshot: &'a FolderSnapshot<Library>,
    other: &FolderSnapshot<Library>,
) -> impl Iterator<Item = &'a RelativePath> {
    let files = skill_files(folder, &snapshot.tree, &snapshot.details);
    let changed = files.filter(|(path, file)| {
        let other = other.tree.files.get(*path);
        other.is_none_or(|other| other.stamp != file.stamp)
    });
    changed.map(|(path, _)| path)
}

/// The files of skills that can be read.
pub(super) fn skill_files<'a>(
    folder: &ServedFolder,
    tree: &'a FolderTree,
    library: &'a Library,
) -> impl Iterator<Item = (&'a RelativePath, &'a FileInfo)> {
    let max_file_bytes = folder.max_file_bytes;
    tree.files.iter().filter(move |(path, file)| {
        file.stamp.size <= max_file_bytes && library.skill_of(path).is_some()
    })
}

fn resources(folder: &ServedFolder, tree: &FolderTree, library: &Library) -> Vec<CatalogEntry> {
    let entries = skill_files(folder, tree, library).filter_map(|(path, file)| {
        let (skill_folder, skill) = library.skill_of(path)?;
        let is_skill_file = skill_folder.join(SKILL_FILE).as_ref() == Some(path);
        let (name, description) = match is_skill_file {
            true => (skill_folder.to_string(), Some(skill.description.as_str())),
            false => (path.to_string(), None),
        };
        let uri = folder.uris.uri(path);
        Some(resource::file_entry(&uri, &name, description, file))
    });
    entries.collect()
}

/// Why the lists are incomplete.
fn gap(folder: &ServedFolder, tree: &FolderTree, library: &Library) -> Option<String> {
    let truncated = tree.is_truncated.then(|| {
        let limit = folder.max_entries;
        format!("more than {limit} files or folders: the others are left out")
    });
    let reasons = [invalid(library), truncated].into_iter().flatten();
    let reasons = reasons.chain(tree.problems());
    let reasons: Vec<_> = reasons.chain(too_large(folder, tree, library)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The first invalid file, and how many more there are.
fn invalid(library: &Library) -> Option<String> {
    let first = truncate_for_message(&library.problems.first()?.to_string());
    Some(match library.problems.len() - 1 {
        0 => first,
        more => format!("{first}; and {more} more, see the log"),
    })
}

/// The files of skills that are left out because of their size.
fn too_large(folder: &ServedFolder, tree: &FolderTree, library: &Library) -> Option<String> {
    let limit = folder.max_file_bytes;
    let mut files = tree
        .files
        .iter()
        .filter(|(path, file)| file.stamp.size > limit && library.skill_of(path).is_some());
    let (first, _) = files.next()?;
    let count = files.count() + 1;
    Some(format!(
        "{count} files of skills have more than {limit} bytes, for instance `{first}`"
    ))
}
