//! The features of the table, each a function over one cell that panics on a failure.

mod basics;
mod cancellation;
mod changes;
mod elicitation;
mod questions;
mod roots;
mod sampling;
mod unanswered;
mod url_elicitation;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::cell::Cell;
use super::notes::Note;

/// The outcome of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Works,
    /// Works, but the message is changed.
    Changed(&'static Note),
    /// The revision does not have it, and the gateway does what the note says.
    Unsupported(&'static Note),
}

type Feature = for<'a, 'b> fn(&'a mut Cell<'b>) -> LocalBoxFuture<'a, Verdict>;

/// Declares the list of features; async functions need boxing.
macro_rules! features {
    ($($name:literal: $module:ident::$function:ident,)*) => {
        /// Every feature, in the order of the table.
        pub(super) const FEATURES: &[(&str, Feature)] =
            &[$(($name, |cell| $module::$function(cell).boxed_local()),)*];
    };
}

features! {
    "call": basics::call,
    "batch": basics::batch,
    "progress": basics::progress,
    "log levels": basics::log_levels,
    "cancel by notification": cancellation::by_notification,
    "cancel by disconnect": cancellation::by_disconnect,
    "form elicitation": elicitation::form,
    "URL elicitation": elicitation::url,
    "URL elicitation required (-32042)": url_elicitation::required,
    "URL elicitation completed": url_elicitation::completed,
    "two elicitations at once": elicitation::two_at_once,
    "partial answers": elicitation::partial,
    "decline": elicitation::decline,
    "never answered": unanswered::never_answered,
    "sampling": sampling::sampling,
    "sampling with tools": sampling::with_tools,
    "sampling refused": sampling::refused,
    "roots": roots::questions,
    "roots changed": roots::changed,
    "subscribe and update": changes::update,
    "list_changed": changes::list,
    "not found": basics::not_found,
    "empty-string cursor": basics::empty_cursor,
    "non-object structured content": basics::structured,
}
