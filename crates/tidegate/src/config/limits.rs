//! The bounds of what clients may use: how they are written, and between what they may lie.
//!
//! Keeps none of them: the transports and the gateway do.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_server::Limits;

use super::problem::Diagnostics;
use super::units::{Size, Time};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// For what may be waited for or not.
const NONE: Time = Time::secs(0);
/// Shorter waits fail for honest clients on a busy machine.
const SHORTEST: Time = Time::millis(100);
/// Zero would let nothing through; more than this no machine can hold.
const MANY: RangeInclusive<usize> = 1..=1_000_000;

/// Makes of one row for each bound the raw section and the function that checks it. The compiler
/// asks for a row when the transports get a bound.
macro_rules! bounds {
    (
        transports { $($(#[$door_doc:meta])* $transport:ident: $door_form:ident in $door_range:expr;)* }
        own {
            $($(#[$doc:meta])* $own:ident: $form:ident = $default:expr, as $value:ident in $range:expr;)*
        }
    ) => {
        /// The section `limits` as it is written.
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a mapping of fields")]
        pub(crate) struct RawLimits {
            $(
                $(#[$door_doc])*
                #[schemars(extend("default" = $door_form::from(Limits::default().$transport)))]
                $transport: Option<$door_form>,
            )*
            $(
                $(#[$doc])*
                #[schemars(extend("default" = $default))]
                $own: Option<$form>,
            )*
        }

        /// The bounds that hold.
        #[derive(Debug)]
        pub(crate) struct Checked {
            pub(crate) transports: Limits,
            $(pub(crate) $own: $value,)*
        }

        fn check_each(raw: &RawLimits, diagnostics: &mut Diagnostics) -> Checked {
            let shipped = Limits::default();
            Checked {
                transports: Limits {
                    $($transport: within(
                        stringify!($transport), raw.$transport, shipped.$transport, $door_range, diagnostics,
                    ),)*
                },
                $($own: within(stringify!($own), raw.$own, $default.into(), $range, diagnostics),)*
            }
        }
    };
}

bounds! {
    transports {
        /// Bytes of one message: an HTTP body or a line on stdin.
        max_message_bytes: Size in Size::kib(1)..=Size::mib(1024);
        /// Bytes of all messages that are being taken at once over HTTP.
        max_buffered_bytes: Size in Size::mib(1)..=Size::mib(64 * 1024);
        /// How deep arrays and objects of a message may nest.
        max_json_depth: usize in 8..=128;
        /// Messages in one batch, for the one revision that has batches.
        max_batch_messages: usize in 1..=10_000;
        /// Bytes of all HTTP headers of one request together.
        max_header_bytes: Size in Size::kib(8)..=Size::mib(1);
        /// Open HTTP connections.
        max_connections: usize in MANY;
        /// Calls under way at once, from all clients.
        max_concurrent_calls: usize in MANY;
        /// Calls under way at once in one session or on one stdio pipe.
        max_concurrent_calls_per_session: usize in MANY;
        /// Sessions of clients that have them, over all principals.
        max_sessions: usize in MANY;
        /// Sessions of one principal.
        max_sessions_per_principal: usize in MANY;
        /// How long a session may stay unused before it ends.
        session_idle_timeout: Time in Time::secs(1)..=Time::secs(30 * DAY);
        /// Open event streams, from all clients.
        max_streams: usize in MANY;
        /// Events kept of one stream for a client that reads slowly or comes back.
        replay_buffer_events: usize in MANY;
        /// Bytes of the events kept of one stream.
        replay_buffer_bytes: Size in Size::kib(1)..=Size::mib(1024);
        /// Resources and tasks that one session or one stream may subscribe to.
        max_subscriptions: usize in MANY;
        /// How long a client may take to send the headers of its next request; an idle connection ends
        /// after this time too.
        header_timeout: Time in SHORTEST..=Time::secs(HOUR);
        /// How long a client may take to send a body.
        body_timeout: Time in SHORTEST..=Time::secs(HOUR);
        /// How often a silent stream gets a comment, so that proxies keep it open.
        keep_alive_interval: Time in SHORTEST..=Time::secs(HOUR);
        /// How long a client may refuse to take bytes of a stream before it is closed.
        write_timeout: Time in SHORTEST..=Time::secs(HOUR);
        /// How long a client with a session may think about what a source without sessions asks.
        answer_timeout: Time in SHORTEST..=Time::secs(DAY);
        /// How long connections are still taken after the signal to stop, so that whoever sends
        /// them here can notice.
        shutdown_delay: Time in NONE..=Time::secs(HOUR);
        /// How long calls under way may go on after that.
        shutdown_timeout: Time in NONE..=Time::secs(HOUR);
    }
    own {
        /// How long a call may take without progress.
        call_timeout: Time = Time::secs(MINUTE), as Duration in SHORTEST..=Time::secs(DAY);
        /// How long a call may take in total.
        max_call_duration: Time = Time::secs(10 * MINUTE), as Duration in SHORTEST..=Time::secs(7 * DAY);
        /// Entries on one page of a list.
        page_size: usize = 1_000_usize, as usize in 1..=10_000;
        /// How long the first clients, with all they ask, wait for sources that have just been started.
        startup_wait: Time = Time::secs(5), as Duration in NONE..=Time::secs(5 * MINUTE);
    }
}

pub(crate) fn check(raw: &RawLimits, diagnostics: &mut Diagnostics) -> Checked {
    let checked = check_each(raw, diagnostics);
    if checked.call_timeout > checked.max_call_duration {
        let field = if raw.call_timeout.is_some() {
            "call_timeout"
        } else {
            "max_call_duration"
        };
        let message = format!(
            "`limits.call_timeout` ({}) is longer than `limits.max_call_duration` ({}); raise the one or \
             lower the other",
            Time(checked.call_timeout),
            Time(checked.max_call_duration)
        );
        diagnostics.value(&["limits", field], message);
    }
    checked
}

/// The value that was written, or the default if there is none; one that lies too low or too high
/// is noted.
fn within<T, V>(
    field: &str,
    written: Option<T>,
    default: V,
    range: RangeInclusive<T>,
    diagnostics: &mut Diagnostics,
) -> V
where
    T: Copy + PartialOrd + Display + Into<V>,
{
    match written {
        None => default,
        Some(value) if range.contains(&value) => value.into(),
        Some(value) => {
            let (least, most) = range.into_inner();
            let message = format!("`limits.{field}` is {value}; it must be from {least} to {most}");
            diagnostics.value(&["limits", field], message);
            default
        }
    }
}
