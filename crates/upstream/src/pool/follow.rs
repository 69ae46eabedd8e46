//! Handles what a server sends on the connection of a client outside of its calls: changes of lists,
//! updates of resources, completed elicitations, log messages.

use std::sync::Arc;

use tidegate_core::{
    Change, ChangeEvent, ExtensionNotification, LogMessage, LogRecipient, LoggingLevel, RawJson,
    Recipients,
};

use super::ConnectionOpener;
use crate::catalog::schedule::RefreshSchedule;
use crate::change_stream;
use crate::client_key::{ClientIdentity, ClientKey};
use crate::resource_subscriptions::RequestedSubscriptions;
use crate::session::{Connection, Notifications, QueuedNotification};

/// The connection of a client that is followed until it is closed.
pub(super) struct Following {
    pub(super) opener: ConnectionOpener,
    pub(super) key: ClientKey,
    pub(super) capabilities: RawJson,
    pub(super) connection: Arc<Connection>,
    /// Whether its lists are loaded at the start: each process has its own, and no other connection
    /// announces their changes.
    pub(super) loads_lists: bool,
}

impl Following {
    pub(super) async fn run(
        self,
        notifications: Notifications,
        subscriptions: RequestedSubscriptions,
    ) {
        // Updates may have been missed while there was no connection.
        for uri in subscriptions.requested_uris() {
            self.announce(Change::ResourceUpdated(uri.into()));
        }
        tokio::select! {
            () = self.connection.channel.closed() => {}
            () = self.apply_all(notifications) => {}
            () = change_stream::run(&self.connection, subscriptions) => {}
        }
        self.connection.channel.close().await;
        self.opener.refresher.forget_client(&self.key);
        self.opener.table.remove_closed(&self.key);
    }

    async fn apply_all(&self, mut notifications: Notifications) {
        let mut schedule = RefreshSchedule::never();
        if self.loads_lists {
            schedule.mark_stale(None);
        }
        loop {
            tokio::select! {
                notification = notifications.next() => match notification {
                    Some(QueuedNotification::Change(event)) => self.apply(event, &mut schedule),
                    Some(QueuedNotification::Log { level, params }) => self.log(level, params),
                    None => return,
                },
                list_changed = schedule.wait_until_due() => {
                    schedule = match self.refresh(&list_changed).await {
                        true => RefreshSchedule::retry(schedule.failures + 1),
                        false => RefreshSchedule::never(),
                    };
                }
            }
        }
    }

    fn apply(&self, event: ChangeEvent, schedule: &mut RefreshSchedule) {
        match event {
            ChangeEvent::Change(Change::ElicitationComplete(server_id)) => {
                self.opener.url_elicitations.complete(&server_id);
            }
            ChangeEvent::Change(change @ Change::ResourceUpdated(_)) => self.announce(change),
            // A client without a session gets these on its change stream.
            ChangeEvent::Change(Change::Extension(_))
                if matches!(self.key.identity, ClientIdentity::Declared { .. }) => {}
            ChangeEvent::Change(Change::Extension(notification)) => {
                let notification = ExtensionNotification {
                    client: self.key.affinity(),
                    ..ExtensionNotification::clone(&notification)
                };
                self.announce(Change::Extension(notification.into()));
            }
            ChangeEvent::Change(list) => schedule.mark_stale(Some(list)),
            ChangeEvent::AllResourcesUpdated | ChangeEvent::Missed => {
                let changes = &self.opener.refresher.changes;
                changes.send_missed(self.recipients());
            }
        }
    }

    /// Delivers a log message to the client of the connection. Where clients of several principals share
    /// one, nobody knows whose it is.
    fn log(&self, level: LoggingLevel, params: RawJson) {
        let recipient = match (&self.key.identity, &self.key.principal) {
            (ClientIdentity::Session(client), _) => LogRecipient::Client(*client),
            (ClientIdentity::Capabilities(_), Some(principal)) => {
                LogRecipient::Principal(principal.clone())
            }
            _ => return self.opener.refresher.drop_log_message(level, &params),
        };
        let message = LogMessage {
            is_shared: matches!(recipient, LogRecipient::Principal(_)),
            level,
            params,
        };
        self.opener.refresher.log_messages.send(recipient, message);
    }

    /// Loads the lists that this client sees over its own connection. Returns whether a list could
    /// not be loaded.
    async fn refresh(&self, list_changed: &[Change]) -> bool {
        let refresher = &self.opener.refresher;
        let refreshed = refresher.refresh_client(
            &self.key,
            &self.connection,
            &self.capabilities,
            list_changed,
        );
        let (changes, has_failed) = refreshed.await;
        for change in changes {
            self.announce(change);
        }
        has_failed
    }

    fn announce(&self, change: Change) {
        let changes = &self.opener.refresher.changes;
        changes.send_to(self.recipients(), change);
    }

    fn recipients(&self) -> Recipients {
        match &self.key.principal {
            Some(principal) => Recipients::Principal(principal.clone()),
            None => Recipients::Everyone,
        }
    }
}
