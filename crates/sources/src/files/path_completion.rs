//! Completion of a path: first the entries of the typed folder, then paths that contain the text
//! anywhere.

use crate::folder::{FolderTree, UriBase};

/// All paths that complete the typed text. Folders end in a slash. Files that are too large to read
/// are left out.
pub(super) fn complete(tree: &FolderTree, max_file_bytes: u64, typed: &str) -> Vec<String> {
    let files = tree.files.iter();
    let files = files.filter(|(_, file)| file.stamp.size <= max_file_bytes);
    let files = files.map(|(path, _)| UriBase::template_value(path));
    let folders = tree.folders.keys().filter(|path| !path.is_root());
    let folders = folders.map(|path| format!("{}/", UriBase::template_value(path)));
    let (mut in_folder, mut anywhere) = (Vec::new(), Vec::new());
    let lowercase = typed.to_lowercase();
    for path in files.chain(folders) {
        match path.strip_prefix(typed) {
            Some(rest) if is_in_folder(rest) => in_folder.push(path),
            _ if path.to_lowercase().contains(&lowercase) => anywhere.push(path),
            _ => {}
        }
    }
    in_folder.sort();
    if !typed.is_empty() {
        anywhere.sort();
        in_folder.append(&mut anywhere);
    }
    in_folder
}

/// Whether the remainder of a path has no further folder.
fn is_in_folder(rest: &str) -> bool {
    !rest.is_empty() && !rest.trim_end_matches('/').contains('/')
}
