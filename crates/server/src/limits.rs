//! The limits of the transports, in one table: name, unit, default and range of each, with the text
//! of the reference. The transports enforce them.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tidegate_config::{ByteSize, Checker, HumanDuration, Section, in_range};

/// Shorter timeouts fail for well-behaved clients on a busy machine.
const MIN_TIMEOUT: HumanDuration = HumanDuration::millis(100);
/// Zero would admit nothing; no machine can hold more than the maximum.
const COUNT_RANGE: RangeInclusive<usize> = 1..=1_000_000;

/// Generates the section as written, the checked limits, their defaults and the check, from one row
/// per limit.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $written:ident as $value:ty = $default:expr, in $range:expr;)*) => {
        /// The limits of the transports, as written.
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a mapping of fields")]
        pub struct TransportLimitsSection {
            $(
                $(#[$doc])*
                #[schemars(extend("default" = $default), transform = in_range::<$written>($range))]
                $name: Option<$written>,
            )*
        }

        /// The limits of the transports.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct TransportLimits {
            $($(#[$doc])* pub $name: $value,)*
        }

        impl Default for TransportLimits {
            fn default() -> Self {
                Self { $($name: $default.into(),)* }
            }
        }

        impl Section for TransportLimitsSection {
            type Config = TransportLimits;

            fn check(self, checker: &mut Checker<'_>) -> Option<TransportLimits> {
                let default = TransportLimits::default();
                Some(TransportLimits {
                    $($name: checker.in_range(
                        stringify!($name), self.$name, default.$name, $range,
                    ),)*
                })
            }
        }
    };
}

limits! {
    /// Maximum size of one message: an HTTP request body or a line on stdin.
    max_message_bytes: ByteSize as usize = ByteSize::mib(4),
        in ByteSize::kib(1)..=ByteSize::mib(1024);
    /// Maximum size of all HTTP request bodies that are being received at the same time.
    max_buffered_bytes: ByteSize as usize = ByteSize::mib(256),
        in ByteSize::mib(1)..=ByteSize::mib(64 * 1024);
    /// Maximum size of all responses that clients have not read yet. Calls over the limit get an error
    /// instead of their result.
    max_unread_bytes: ByteSize as usize = ByteSize::mib(256),
        in ByteSize::mib(1)..=ByteSize::mib(64 * 1024);
    /// How much of `max_concurrent_calls`, `max_streams`, `max_buffered_bytes` and `max_unread_bytes`
    /// one principal may use, in percent. Without authentication there is only one principal, who may
    /// use everything.
    principal_share_percent: usize as usize = 50_usize, in 1..=100;
    /// Maximum nesting depth of arrays and objects in a message.
    max_json_depth: usize as usize = 64_usize, in 8..=128;
    /// Maximum number of messages in a JSON-RPC batch. Only one protocol revision has batches.
    max_batch_messages: usize as usize = 64_usize, in 1..=10_000;
    /// Maximum size of all headers of an HTTP request.
    max_header_bytes: ByteSize as usize = ByteSize::kib(32),
        in ByteSize::kib(8)..=ByteSize::mib(1);
    /// Maximum number of open HTTP connections.
    max_connections: usize as usize = 16_384_usize, in COUNT_RANGE;
    /// Maximum number of open HTTP connections from one address. Behind a reverse proxy, all
    /// connections come from the address of the proxy.
    max_connections_per_address: usize as usize = 8_192_usize, in COUNT_RANGE;
    /// Maximum number of concurrent calls, over all clients.
    max_concurrent_calls: usize as usize = 10_000_usize, in COUNT_RANGE;
    /// Maximum number of concurrent calls in one session or over one stdio connection.
    max_concurrent_calls_per_session: usize as usize = 256_usize, in COUNT_RANGE;
    /// Maximum number of client sessions, over all principals.
    max_sessions: usize as usize = 10_000_usize, in COUNT_RANGE;
    /// Maximum number of client sessions of one principal.
    max_sessions_per_principal: usize as usize = 1_000_usize, in COUNT_RANGE;
    /// How long a session may be idle before it ends.
    session_idle_timeout: HumanDuration as Duration = HumanDuration::hours(1),
        in HumanDuration::secs(1)..=HumanDuration::days(30);
    /// Maximum number of open event streams, over all clients.
    max_streams: usize as usize = 10_000_usize, in COUNT_RANGE;
    /// How many events of a stream are buffered for clients that read slowly or reconnect.
    replay_buffer_events: usize as usize = 256_usize, in COUNT_RANGE;
    /// How many bytes of events of a stream are buffered for clients that read slowly or reconnect.
    replay_buffer_bytes: ByteSize as usize = ByteSize::mib(1),
        in ByteSize::kib(1)..=ByteSize::mib(1024);
    /// Maximum number of resources and tasks that one session or one stream may subscribe to.
    max_subscriptions: usize as usize = 1_000_usize, in COUNT_RANGE;
    /// How long a client may take to send the headers of its next request. Also the idle timeout of
    /// HTTP connections.
    header_timeout: HumanDuration as Duration = HumanDuration::secs(30),
        in MIN_TIMEOUT..=HumanDuration::hours(1);
    /// How long a client may take to send a request body.
    body_timeout: HumanDuration as Duration = HumanDuration::secs(30),
        in MIN_TIMEOUT..=HumanDuration::hours(1);
    /// How often an idle event stream gets a comment, so that proxies keep it open.
    keep_alive_interval: HumanDuration as Duration = HumanDuration::secs(15),
        in MIN_TIMEOUT..=HumanDuration::hours(1);
    /// How long a client may leave a response or a stream unread before it is ended.
    write_timeout: HumanDuration as Duration = HumanDuration::secs(30),
        in MIN_TIMEOUT..=HumanDuration::hours(1);
    /// How long a legacy client may take to answer an elicitation, sampling or roots request of a
    /// modern server.
    answer_timeout: HumanDuration as Duration = HumanDuration::minutes(10),
        in MIN_TIMEOUT..=HumanDuration::days(1);
    /// How long new connections are still accepted after the signal to stop, so that load balancers
    /// can notice the shutdown.
    shutdown_delay: HumanDuration as Duration = HumanDuration::ZERO,
        in HumanDuration::ZERO..=HumanDuration::hours(1);
    /// How long in-flight calls may continue after shutdown begins.
    shutdown_timeout: HumanDuration as Duration = HumanDuration::secs(30),
        in HumanDuration::ZERO..=HumanDuration::hours(1);
}

impl TransportLimits {
    /// The limits that apply while a message is decoded.
    pub(crate) fn decode(&self) -> tidegate_mcp::DecodeLimits {
        tidegate_mcp::DecodeLimits {
            max_depth: self.max_json_depth,
            max_batch: self.max_batch_messages,
        }
    }
}
