//! The lines of the log. Each call has one line at its end, under the name that fits it best; at the
//! level `info` those are reads of `plugin://` resources and what was refused, at `error` what failed.

use std::time::Duration;

use tidegate_core::{Error, ErrorOrigin, List, Outcome, list_length};

use super::{About, Watch};

impl Watch {
    pub(super) fn say_begun(&self) {
        if let About::Resources(_) = self.about {
            tracing::debug!(
                method = self.label,
                request_id = %self.correlation,
                principal = %self.principal,
                "resources_list_started"
            );
        }
    }

    pub(super) fn say_succeeded(&self, outcome: &Outcome, took: Duration) {
        match &self.about {
            About::Plugin { read, uri } => tracing::info!(
                plugin = read.plugin,
                resource = read.resource,
                uri,
                principal = %self.principal,
                correlation = %self.correlation,
                duration = took.as_secs_f64(),
                "plugin_resource_read_completed"
            ),
            // The entries are counted only if someone wants to know.
            About::Resources(_) if tracing::enabled!(tracing::Level::DEBUG) => tracing::debug!(
                method = self.label,
                request_id = %self.correlation,
                principal = %self.principal,
                duration = took.as_secs_f64(),
                resource_count = entries(outcome),
                "resources_list_completed"
            ),
            About::Resources(_) => {}
            About::Anything => tracing::debug!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation = %self.correlation,
                took_us = took.as_micros(),
                "call done"
            ),
        }
    }

    pub(super) fn say_failed(&self, error: &Error, took: Duration) {
        let cause = std::error::Error::source(error).map(ToString::to_string);
        let (code, message) = (error.code(), error.message());
        let duration = took.as_secs_f64();
        match (&self.about, error.origin()) {
            (About::Plugin { read, uri }, _) => tracing::error!(
                plugin = read.plugin,
                resource = read.resource,
                uri,
                principal = %self.principal,
                correlation = %self.correlation,
                ?code,
                error = message,
                cause,
                duration,
                "plugin_resource_read_failed"
            ),
            (About::Resources(_), ErrorOrigin::Client) => tracing::info!(
                method = self.label,
                request_id = %self.correlation,
                principal = %self.principal,
                ?code,
                error = message,
                duration,
                "resources_list_failed"
            ),
            (About::Resources(_), ErrorOrigin::Gateway | ErrorOrigin::Source) => tracing::error!(
                method = self.label,
                request_id = %self.correlation,
                principal = %self.principal,
                ?code,
                error = message,
                cause,
                duration,
                "resources_list_failed"
            ),
            (About::Anything, ErrorOrigin::Client) => tracing::info!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation = %self.correlation,
                ?code,
                error = message,
                "call refused"
            ),
            (About::Anything, ErrorOrigin::Gateway | ErrorOrigin::Source) => tracing::error!(
                method = self.label,
                source = %self.source,
                principal = %self.principal,
                correlation = %self.correlation,
                ?code,
                error = message,
                cause,
                took_us = took.as_micros(),
                "call failed"
            ),
        }
    }

    pub(super) fn say_cancelled(&self) {
        tracing::debug!(
            method = self.label,
            source = %self.source,
            principal = %self.principal,
            correlation = %self.correlation,
            "call cancelled"
        );
    }
}

/// How many resources a page of the list has.
fn entries(outcome: &Outcome) -> Option<usize> {
    let Outcome::Complete { result, .. } = outcome else {
        return None;
    };
    list_length(result.object()?.get(List::Resources.member())?)
}
