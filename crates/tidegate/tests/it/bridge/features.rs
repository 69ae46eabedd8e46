//! The features of the table, each a function over one cell. What it finds wrong it panics about.

mod asked;
mod cancelling;
mod changes;
mod elicitation;
mod errands;
mod never;
mod plain;
mod roots;
mod sampling;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::cell::Cell;
use super::notes::Note;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Works,
    /// It works, but not everything arrives as it was sent.
    Changed(&'static Note),
    /// It cannot be said, and the gateway does what the note says.
    CannotBeSaid(&'static Note),
}

type Feature = for<'a, 'b> fn(&'a mut Cell<'b>) -> LocalBoxFuture<'a, Verdict>;

/// Writes the list of features: an async function needs a box to be in one.
macro_rules! features {
    ($($name:literal: $module:ident::$function:ident,)*) => {
        /// Every feature, in the order of the table.
        pub(super) const FEATURES: &[(&str, Feature)] =
            &[$(($name, |cell| $module::$function(cell).boxed_local()),)*];
    };
}

features! {
    "call": plain::call,
    "batch": plain::batch,
    "progress": plain::progress,
    "log levels": plain::log_levels,
    "cancel by notification": cancelling::by_notification,
    "cancel by disconnect": cancelling::by_disconnect,
    "form elicitation": elicitation::form,
    "URL elicitation": elicitation::page,
    "URL elicitation required (-32042)": errands::needed,
    "told that the user is done there": errands::done,
    "two elicitations at once": elicitation::two_at_once,
    "partial answers": elicitation::partial,
    "decline": elicitation::decline,
    "never answered": never::answered,
    "sampling": sampling::sampling,
    "sampling with tools": sampling::with_tools,
    "sampling refused": sampling::refused,
    "roots": roots::asked,
    "roots changed": roots::changed,
    "subscribe and update": changes::update,
    "list_changed": changes::list,
    "not found": plain::not_found,
    "empty-string cursor": plain::empty_cursor,
    "non-object structured content": plain::structured,
}
