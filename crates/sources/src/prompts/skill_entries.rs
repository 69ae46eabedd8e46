//! The skills of the folder as the skills extension describes them: each with its front matter, and with
//! the digests of its files as they are now.

use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::{CacheScope, Code, Error, Outcome, Reply, Result, SkillOperation, sha256};

use super::front_matter::MarkdownFile;
use super::skill::SKILL_FILE;
use super::view::{PromptsView, skill_files};
use crate::folder::{FolderSnapshot, RelativePath, SnapshotFolder, media_type, resource};

type PromptsFolder = SnapshotFolder<PromptsView>;
type PromptsSnapshot = FolderSnapshot<super::library::Library>;

pub(super) async fn serve(
    folder: &Arc<PromptsFolder>,
    operation: &SkillOperation,
) -> Result<Reply> {
    let snapshot = folder.snapshot();
    let result = match operation {
        SkillOperation::List => {
            let skills: Vec<_> = snapshot.details.skills.keys().cloned().collect();
            let (this, snapshot) = (Arc::clone(folder), Arc::clone(&snapshot));
            let entries = folder.run_blocking(move || -> Vec<_> {
                let entries = skills
                    .iter()
                    .filter_map(|skill| entry(&this, &snapshot, skill));
                entries.collect()
            });
            json!({ "skills": entries.await? })
        }
        SkillOperation::Get { uri } => {
            let unknown = || invalid("no skill has this URI", uri);
            let path = folder.folder.uris.path(uri).ok_or_else(unknown)?;
            let skill = path.parent().filter(|_| path.name() == Some(SKILL_FILE));
            let skill = skill.filter(|skill| snapshot.details.skills.contains_key(skill));
            let skill = skill.ok_or_else(unknown)?;
            let (this, snapshot) = (Arc::clone(folder), Arc::clone(&snapshot));
            let entry = folder.run_blocking(move || entry(&this, &snapshot, &skill));
            json!({ "skill": entry.await?.ok_or_else(unknown)? })
        }
        SkillOperation::ReadDirectory { uri } => {
            let path = folder.folder.uris.path(uri);
            let children = path.and_then(|path| children(folder, &snapshot, &path));
            let children = children.ok_or_else(|| invalid("no directory has this URI", uri))?;
            json!({ "resources": children })
        }
    };
    // The files may change at any time.
    let outcome = Outcome::cacheable(result.into(), std::time::Duration::ZERO, CacheScope::Public);
    Ok(Reply::Done(outcome))
}

/// The entry of the skill in this folder; `None` if its `SKILL.md` cannot be read. Blocks.
fn entry(
    folder: &PromptsFolder,
    snapshot: &PromptsSnapshot,
    skill: &RelativePath,
) -> Option<Value> {
    let uris = &folder.folder.uris;
    let skill_file = skill.join(SKILL_FILE)?;
    let mut front_matter = None;
    let files = skill_files(&folder.folder, &snapshot.tree, &snapshot.details);
    let files = files.filter(|(path, _)| path.prefixes().any(|prefix| prefix == *skill));
    let files = files.filter_map(|(path, _)| {
        let bytes = folder.folder.read_file(path)?;
        let (size, digest) = (bytes.len(), hex(&sha256(&bytes)));
        if *path == skill_file {
            let text = media_type::into_text(bytes).ok()?;
            let file = MarkdownFile::split(&text).ok()??;
            front_matter = Some(file.parse::<Value>().ok()?);
        }
        Some(json!({ "uri": uris.uri(path), "digest": format!("sha256:{digest}"), "size": size }))
    });
    let files: Vec<_> = files.collect();
    Some(json!({
        "uri": uris.uri(&skill_file),
        "frontmatter": front_matter?,
        "resources": files,
    }))
}

/// The direct children of a folder of a skill; `None` if it is not one.
fn children(
    folder: &PromptsFolder,
    snapshot: &PromptsSnapshot,
    path: &RelativePath,
) -> Option<Vec<Value>> {
    let (tree, library) = (&snapshot.tree, &snapshot.details);
    library.skill_of(path)?;
    tree.folders.get(path)?;
    let uris = &folder.folder.uris;
    let is_child = |child: &&RelativePath| child.parent().as_ref() == Some(path);
    let name = |path: &RelativePath| {
        let name = path.name().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    let folders = tree.folders.keys().filter(is_child).map(|child| {
        json!({ "uri": uris.uri(child), "name": name(child), "mimeType": "inode/directory" })
    });
    let files = skill_files(&folder.folder, tree, library);
    let files = files.filter(|(child, _)| is_child(child));
    let files = files.filter_map(|(child, file)| {
        let entry = resource::file_entry(&uris.uri(child), &name(child), None, file);
        entry.definition.read().ok()
    });
    Some(folders.chain(files).collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn invalid(message: &str, uri: &str) -> Error {
    Error::client(Code::InvalidParams, message).with_uri(uri)
}
