//! Log events of calls: one at the end of each call. Reads of `plugin://` resources and mistakes of
//! clients and errors that a server answers are logged at `info`, failures of the gateway or of a
//! source at `error`, everything else at `debug`.

use std::time::Duration;

use tidegate_core::{Code, Error, ErrorOrigin, List, Outcome, list_length};

use super::{CallKind, ObservedCall};

/// A log event of a read of a `plugin://` resource.
macro_rules! plugin_event {
    ($level:ident, $call:expr, $counters:expr, $uri:expr, $($fields:tt)*) => {
        tracing::$level!(
            plugin = $counters.plugin,
            resource = $counters.resource,
            uri = $uri,
            principal = %$call.principal,
            correlation_id = %$call.correlation_id,
            $($fields)*
        )
    };
}

/// A log event of a list of resources.
macro_rules! list_event {
    ($level:ident, $call:expr, $($fields:tt)*) => {
        tracing::$level!(
            method = $call.label,
            request_id = %$call.correlation_id,
            principal = %$call.principal,
            $($fields)*
        )
    };
}

/// A log event of any other call.
macro_rules! call_event {
    ($level:ident, $call:expr, $($fields:tt)*) => {
        tracing::$level!(
            method = $call.label,
            source = %$call.source,
            principal = %$call.principal,
            correlation_id = %$call.correlation_id,
            $($fields)*
        )
    };
}

impl ObservedCall {
    pub(super) fn log_started(&self) {
        if let CallKind::ResourceList(_) = self.kind {
            list_event!(debug, self, "resources_list_started");
        }
    }

    pub(super) fn log_completed(&self, outcome: &Outcome, duration: Duration) {
        let duration = duration.as_secs_f64();
        match &self.kind {
            CallKind::PluginRead { counters, uri } => {
                plugin_event!(
                    info,
                    self,
                    counters,
                    uri,
                    duration,
                    "plugin_resource_read_completed"
                );
            }
            // Counting the entries costs time, so only if the event is enabled.
            CallKind::ResourceList(_) if tracing::enabled!(tracing::Level::DEBUG) => {
                let resource_count = entry_count(outcome);
                list_event!(
                    debug,
                    self,
                    duration,
                    resource_count,
                    "resources_list_completed"
                );
            }
            CallKind::ResourceList(_) => {}
            CallKind::Other => call_event!(debug, self, duration, "call completed"),
        }
    }

    pub(super) fn log_failed(&self, error: &Error, duration: Duration) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let (code, message) = (error.code(), error.short_message());
        let duration = duration.as_secs_f64();
        let is_client_error = error.origin() == ErrorOrigin::Client;
        match &self.kind {
            CallKind::PluginRead { counters, uri } if is_client_error => plugin_event!(
                info,
                self,
                counters,
                uri,
                ?code,
                error = message,
                duration,
                "plugin_resource_read_failed"
            ),
            CallKind::PluginRead { counters, uri } => plugin_event!(
                error,
                self,
                counters,
                uri,
                ?code,
                error = message,
                cause,
                duration,
                "plugin_resource_read_failed"
            ),
            CallKind::ResourceList(_) if is_client_error => list_event!(
                info,
                self,
                ?code,
                error = message,
                duration,
                "resources_list_failed"
            ),
            CallKind::ResourceList(_) => list_event!(
                error,
                self,
                ?code,
                error = message,
                cause,
                duration,
                "resources_list_failed"
            ),
            CallKind::Other if is_client_error => {
                call_event!(info, self, ?code, error = message, "call rejected");
            }
            // The call worked: the server answered it with an error.
            CallKind::Other if matches!(code, Code::Source(_)) => call_event!(
                info,
                self,
                ?code,
                error = message,
                duration,
                "source returned an error"
            ),
            CallKind::Other => call_event!(
                error,
                self,
                ?code,
                error = message,
                cause,
                duration,
                "call failed"
            ),
        }
    }

    pub(super) fn log_cancelled(&self) {
        call_event!(debug, self, "call cancelled");
    }
}

/// The number of resources on this page of the list.
fn entry_count(outcome: &Outcome) -> Option<usize> {
    let Outcome::Complete { result, .. } = outcome else {
        return None;
    };
    list_length(result.object()?.get(List::Resources.member())?)
}
