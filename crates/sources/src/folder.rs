//! A folder of this machine that others may look into, and nothing beside it: what lies below it,
//! what of that is shown, and when it changes.
//!
//! Knows no source and no protocol: `files` and `prompts` stand on it.

pub(crate) mod media;
mod place;
mod root;
pub(crate) mod rules;
mod uri;
mod walk;
mod watch;

pub(crate) use place::Place;
pub(crate) use root::{Absent, Found, Root, Stamp};
pub(crate) use rules::Rules;
pub(crate) use uri::Base;
pub(crate) use walk::{File, Walk, Walked};
pub(crate) use watch::Bell;
