//! Log events of calls: one at the end of each call. Reads of `plugin://` resources and mistakes of
//! clients and errors that a server answers are logged at `info`, failures of the gateway or of a
//! source at `error`, everything else at `debug`.

use std::time::Duration;

use tidegate_core::{Code, Error, ErrorOrigin, List, Outcome, list_length};

use super::{CallKind, ObservedCall};

impl ObservedCall {
    pub(super) fn log_started(&self) {
        if let CallKind::ResourceList(_) = self.kind {
            tracing::debug!(
                method = self.label,
                request_id = %self.correlation_id,
                principal = %self.principal,
                "resources_list_started"
            );
        }
    }

    pub(super) fn log_completed(&self, outcome: &Outcome, duration: Duration) {
        match &self.kind {
            CallKind::PluginRead { counters, uri } => tracing::info!(
                plugin = counters.plugin,
                resource = counters.resource,
                uri,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                duration = duration.as_secs_f64(),
                "plugin_resource_read_completed"
            ),
            // Counting the entries costs time, so only if the event is enabled.
            CallKind::ResourceList(_) if tracing::enabled!(tracing::Level::DEBUG) => {
                tracing::debug!(
                    method = self.label,
                    request_id = %self.correlation_id,
                    principal = %self.principal,
                    duration = duration.as_secs_f64(),
                    resource_count = entry_count(outcome),
                    "resources_list_completed"
                );
            }
            CallKind::ResourceList(_) => {}
            CallKind::Other => tracing::debug!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                duration = duration.as_secs_f64(),
                "call completed"
            ),
        }
    }

    pub(super) fn log_failed(&self, error: &Error, duration: Duration) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let (code, message) = (error.code(), error.short_message());
        let duration = duration.as_secs_f64();
        match (&self.kind, error.origin()) {
            (CallKind::PluginRead { counters, uri }, ErrorOrigin::Client) => tracing::info!(
                plugin = counters.plugin,
                resource = counters.resource,
                uri,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                ?code,
                error = message,
                duration,
                "plugin_resource_read_failed"
            ),
            (
                CallKind::PluginRead { counters, uri },
                ErrorOrigin::Gateway | ErrorOrigin::Source,
            ) => tracing::error!(
                plugin = counters.plugin,
                resource = counters.resource,
                uri,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                ?code,
                error = message,
                cause,
                duration,
                "plugin_resource_read_failed"
            ),
            (CallKind::ResourceList(_), ErrorOrigin::Client) => tracing::info!(
                method = self.label,
                request_id = %self.correlation_id,
                principal = %self.principal,
                ?code,
                error = message,
                duration,
                "resources_list_failed"
            ),
            (CallKind::ResourceList(_), ErrorOrigin::Gateway | ErrorOrigin::Source) => {
                tracing::error!(
                    method = self.label,
                    request_id = %self.correlation_id,
                    principal = %self.principal,
                    ?code,
                    error = message,
                    cause,
                    duration,
                    "resources_list_failed"
                );
            }
            (CallKind::Other, ErrorOrigin::Client) => tracing::info!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                ?code,
                error = message,
                "call rejected"
            ),
            // The call worked: the server answered it with an error.
            (CallKind::Other, _) if matches!(code, Code::Source(_)) => tracing::info!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                ?code,
                error = message,
                duration,
                "source returned an error"
            ),
            (CallKind::Other, ErrorOrigin::Gateway | ErrorOrigin::Source) => tracing::error!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation_id = %self.correlation_id,
                ?code,
                error = message,
                cause,
                duration,
                "call failed"
            ),
        }
    }

    pub(super) fn log_cancelled(&self) {
        tracing::debug!(
            method = self.label,
            source = %self.source,
            principal = %self.principal,
            correlation_id = %self.correlation_id,
            "call cancelled"
        );
    }
}

/// The number of resources on this page of the list.
fn entry_count(outcome: &Outcome) -> Option<usize> {
    let Outcome::Complete { result, .. } = outcome else {
        return None;
    };
    list_length(result.object()?.get(List::Resources.member())?)
}
