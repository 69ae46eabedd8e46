//! Completes a path: first what is in the folder that was typed, then whatever has it anywhere.

use crate::folder::{Base, Place, Walked};

/// Every path that what was typed may become. Folders end in a slash. What is suggested works: no
/// file that is too large to be read.
pub(super) fn paths(walked: &Walked, max_file_bytes: u64, typed: &str) -> Vec<String> {
    let files = walked.files.iter();
    let files = files.filter(|(_, file)| file.stamp.size <= max_file_bytes);
    let files = files.map(|(place, _)| Base::variable(place));
    let folders = walked.folders.keys().filter(|place| !place.is_top());
    let folders = folders.map(|place: &Place| format!("{}/", Base::variable(place)));
    let (mut next, mut others) = (Vec::new(), Vec::new());
    let wanted = typed.to_lowercase();
    for path in files.chain(folders) {
        match path.strip_prefix(typed) {
            Some(rest) if is_next(rest) => next.push(path),
            _ if path.to_lowercase().contains(&wanted) => others.push(path),
            _ => {}
        }
    }
    next.sort();
    if !typed.is_empty() {
        others.sort();
        next.append(&mut others);
    }
    next
}

/// Whether the rest of a path stays in the folder that was typed.
fn is_next(rest: &str) -> bool {
    !rest.is_empty() && !rest.trim_end_matches('/').contains('/')
}
