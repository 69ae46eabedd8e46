//! A folder of this machine that others may look into, and nothing beside it: what lies below it,
//! what of that is shown, and when it changes.
//!
//! Knows no source and no protocol: `files` and `prompts` stand on it.

mod contents;
mod desk;
mod lines;
pub(crate) mod media;
mod place;
mod root;
mod rules;
mod uri;
mod walk;
mod watch;

pub(crate) use contents::{Contents, Unread};
pub(crate) use desk::Desk;
pub(crate) use lines::Told;
pub(crate) use place::Place;
pub(crate) use root::{Absent, Root, Stamp};
pub(crate) use rules::Rules;
pub use rules::{BadPattern, Patterns};
pub(crate) use uri::Base;
pub(crate) use walk::{File, Level, Walk, Walked};
pub(crate) use watch::{Folders, Look, folders, keep_looking};

#[cfg(test)]
mod tests;
