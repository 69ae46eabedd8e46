//! Delivers the log messages that servers send outside of calls to legacy sessions. A modern client gets
//! log messages only in the response of a request.

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::Viewer;
use tidegate_mcp::revision::legacy_log_notification;

use crate::Transports;
use crate::requester::Requester;
use crate::session::Session;

/// Delivers log messages to the standalone stream of a session, until it ends.
pub(crate) fn deliver_log_messages(
    transports: &Transports,
    requester: &Requester,
    session: &Session,
) {
    let viewer = Viewer {
        caller: &requester.caller,
        client: &session.client(),
    };
    let mut messages = transports.gateway.log_messages(&session.scope, &viewer);
    let (stream, log_level) = (Arc::clone(&session.standalone), session.log_level.clone());
    let (ended, draining) = (session.ended.clone(), transports.draining.clone());
    transports.tasks.spawn(async move {
        loop {
            let message = tokio::select! {
                () = ended.cancelled() => return,
                () = draining.cancelled() => return,
                message = messages.next() => message,
            };
            let Some(message) = message else {
                return;
            };
            // Without a level, a client gets what its server sends.
            let is_enabled = match log_level.get() {
                Some(minimum) => message.level >= minimum,
                None => !message.is_shared,
            };
            if is_enabled {
                stream.push_lossy(legacy_log_notification(&message.params));
            }
        }
    });
}
