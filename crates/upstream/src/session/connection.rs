//! A connection to a server after the handshake: requests are encoded for its revision and sent.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tidegate_core::{Call, CatalogEntry, ClientContext, LoggingLevel, Operation, RawJson, Result};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{
    RequestEncoder, ServerFacts, modern_headers, modern_notification_headers,
};
use tokio_util::task::TaskTracker;

use super::notification_queue::NotificationSender;
use super::own_requests::{RequestIds, send_request};
use super::{DeclaredClient, RequestChannel, ResponseStream};
use crate::error::source_failed;

/// Catalog entries of one connection whose defects are logged.
const MAX_REPORTED_ENTRIES: usize = 1000;

/// A client's notification of an extension that the gateway does not know.
pub(crate) struct ClientNotification {
    pub(crate) client: ClientContext,
    pub(crate) method: String,
    pub(crate) params: RawJson,
}

/// An open connection to a server.
pub(crate) struct Connection {
    pub(crate) channel: Arc<dyn RequestChannel>,
    pub(crate) ids: RequestIds,
    pub(crate) facts: ServerFacts,
    /// Queues changes that arrive on the gateway's own requests.
    pub(crate) notifications: NotificationSender,
    /// What was declared in the handshake.
    pub(super) client: DeclaredClient,
    /// What the source waits for when it stops.
    pub(crate) background_tasks: TaskTracker,
    /// Whether era detection cost a timeout, or a process.
    pub(super) detection_was_costly: bool,
    /// The least severe log level that was requested with `logging/setLevel`.
    log_level: Mutex<Option<LoggingLevel>>,
    /// The catalog entries whose defects have been logged.
    reported_entries: Mutex<HashSet<String>>,
}

impl Connection {
    pub(super) fn new(
        channel: Arc<dyn RequestChannel>,
        ids: RequestIds,
        facts: ServerFacts,
        notifications: NotificationSender,
        client: DeclaredClient,
        background_tasks: TaskTracker,
        detection_was_costly: bool,
    ) -> Self {
        Self {
            channel,
            ids,
            facts,
            notifications,
            client,
            background_tasks,
            detection_was_costly,
            log_level: Mutex::default(),
            reported_entries: Mutex::default(),
        }
    }

    /// The client capabilities that were declared in the handshake.
    pub(crate) fn capabilities(&self) -> &RawJson {
        &self.client.capabilities
    }

    /// Registers a call; it is sent when the stream is first polled. `tools` are the known tools
    /// of the server.
    pub(crate) fn send_call(&self, call: &Call, tools: &[CatalogEntry]) -> Result<ResponseStream> {
        let encoder = self.encoder(call.client.clone());
        let tool = match &call.operation {
            Operation::Tool { name } => tools.iter().find(|tool| tool.key == *name),
            _ => None,
        };
        let definition = tool.map(|tool| &tool.definition);
        let (id, params) = (self.ids.next(), &call.params);
        let request = encoder.call(id, &call.operation, params, definition);
        let request = request.ok_or_else(|| {
            source_failed("the source's protocol revision does not have this operation")
        })?;
        let headers = match encoder.revision.era() {
            Era::Modern => modern_headers(encoder.revision, &request, definition),
            Era::Legacy => Vec::new(),
        };
        Ok(self.channel.request(request, headers))
    }

    /// Sends a client's notification of an extension.
    pub(crate) async fn send_notification(&self, notification: &ClientNotification) -> Result<()> {
        let encoder = self.encoder(notification.client.clone());
        let headers = match encoder.revision.era() {
            Era::Modern => modern_notification_headers(encoder.revision, &notification.method),
            Era::Legacy => Vec::new(),
        };
        let json = encoder.extension(&notification.method, &notification.params);
        self.channel.send(json, headers).await
    }

    /// Requests log messages from this level on, where the level belongs to the session. In the
    /// modern era each request carries it. Messages that one client does not want are dropped on the
    /// way back.
    pub(crate) async fn request_log_level(&self, level: Option<LoggingLevel>) {
        let Some(level) = level.filter(|level| self.lowers_log_level(*level)) else {
            return;
        };
        let request = self.gateway_encoder().set_level(self.ids.next(), level);
        send_request(self.channel.as_ref(), request, Vec::new())
            .await
            .ok();
    }

    /// Makes a server ask for roots again that asked when no call was in flight. A call that can be
    /// asked must be registered.
    pub(crate) async fn announce_unknown_roots(&self) {
        if self.channel.take_unknown_roots() {
            let notification = self.gateway_encoder().roots_changed();
            self.channel.send(notification, Vec::new()).await.ok();
        }
    }

    /// Remembers a level. False if this level is already enabled, or cannot be requested.
    fn lowers_log_level(&self, level: LoggingLevel) -> bool {
        let can_request = self.facts.features.logging && self.facts.revision.era() == Era::Legacy;
        let mut requested = self.log_level.lock();
        let lowers = can_request && requested.is_none_or(|requested| level < requested);
        if lowers {
            *requested = Some(level);
        }
        lowers
    }

    /// Whether the defects of a catalog entry are to be logged: once, and not for too many entries.
    pub(crate) fn should_report_entry(&self, name: &str) -> bool {
        let mut reported = self.reported_entries.lock();
        reported.len() < MAX_REPORTED_ENTRIES && reported.insert(name.to_owned())
    }

    pub(crate) fn encoder(&self, client: ClientContext) -> RequestEncoder {
        RequestEncoder {
            revision: self.facts.revision,
            client,
        }
    }

    /// Encodes the gateway's own requests: for a client without capabilities.
    pub(crate) fn gateway_encoder(&self) -> RequestEncoder {
        self.encoder(ClientContext {
            era: self.facts.revision.era(),
            ..ClientContext::default()
        })
    }
}
