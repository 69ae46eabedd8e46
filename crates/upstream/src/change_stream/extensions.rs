//! Streams the notifications of extensions to one client. A modern server gets a change stream with the
//! members of the client's filter. A legacy server has no filters: its client gets all notifications that
//! arrive on its connection.
//!
//! Must not know: what the members of a filter mean.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, BoxStream};
use tidegate_core::{
    ChangeFilter, ClientContext, ExtensionMembers, ExtensionNotification, ExtensionSubscription,
    Result,
};
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::{ServerNotification, modern_headers};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};

use crate::backoff::Backoff;
use crate::session::{Connection, ResponseStream, ServerMessage};

/// How long a server may take to acknowledge a stream, while its client waits.
const ACKNOWLEDGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Provides the connection of a client; opens it if necessary.
pub(crate) type ClientConnections =
    Box<dyn Fn() -> BoxFuture<'static, Option<HeldConnection>> + Send + Sync>;

type Notifications = BoxStream<'static, ExtensionNotification>;

/// A connection that stays open until this is dropped.
pub(crate) struct HeldConnection {
    connection: Arc<Connection>,
    guard: Option<Box<dyn Any + Send>>,
}

impl HeldConnection {
    /// The connection of all clients.
    pub(crate) fn shared(connection: Arc<Connection>) -> Self {
        Self {
            connection,
            guard: None,
        }
    }

    /// A connection that `guard` keeps open.
    pub(crate) fn until_dropped(connection: Arc<Connection>, guard: impl Any + Send) -> Self {
        Self {
            connection,
            guard: Some(Box::new(guard)),
        }
    }
}

/// The stream of one client.
struct ExtensionStream {
    connections: ClientConnections,
    members: ExtensionMembers,
    client: ClientContext,
    backoff: Backoff,
    _permit: OwnedSemaphorePermit,
}

/// Opens a stream with these members of a filter. Members that the server does not acknowledge are left
/// out.
pub(crate) async fn open(
    connections: ClientConnections,
    members: ExtensionMembers,
    client: ClientContext,
    permit: OwnedSemaphorePermit,
) -> ExtensionSubscription {
    let mut stream = ExtensionStream {
        connections,
        members,
        // Neither belongs on such a stream.
        client: ClientContext {
            log_level: None,
            progress: None,
            ..client
        },
        backoff: Backoff::for_streams(),
        _permit: permit,
    };
    let Some((acknowledged, notifications)) = stream.connect().await else {
        return ExtensionSubscription::default();
    };
    stream.members = acknowledged;
    ExtensionSubscription {
        members: stream.members.clone(),
        notifications: stream.run(notifications),
    }
}

impl ExtensionStream {
    /// Subscribes at the connection of the client. Returns the members that are honoured, if there are
    /// any, and the notifications until the stream or the connection ends.
    async fn connect(&self) -> Option<(ExtensionMembers, Notifications)> {
        let HeldConnection { connection, guard } = (self.connections)().await?;
        let (members, notifications) = match connection.facts.revision.era() {
            Era::Modern => self.listen(&connection).await?,
            Era::Legacy => (self.members.clone(), all_notifications(connection)),
        };
        let held = stream::unfold((notifications, guard), |(mut stream, guard)| async {
            let notification = stream.next().await?;
            Some((notification, (stream, guard)))
        });
        Some((members, held.boxed()))
    }

    async fn listen(&self, connection: &Connection) -> Option<(ExtensionMembers, Notifications)> {
        let filter = ChangeFilter {
            extension_members: self.members.clone(),
            ..ChangeFilter::default()
        };
        let encoder = connection.encoder(self.client.clone());
        let request = encoder.listen(connection.ids.next(), &filter);
        let headers = modern_headers(connection.facts.revision, &request, None);
        let mut messages = connection.channel.request(request, headers);
        let acknowledged = timeout(ACKNOWLEDGE_TIMEOUT, acknowledged_members(&mut messages));
        let mut acknowledged = acknowledged.await.ok()??;
        acknowledged.retain(|name, _| self.members.contains_key(name));
        let notifications = messages
            .take_while(|message| ready(matches!(message, Ok(ServerMessage::Notification(_)))))
            .filter_map(|message| ready(extension_notification(message)));
        (!acknowledged.is_empty()).then(|| (acknowledged, notifications.boxed()))
    }

    /// The notifications of this stream and of those that replace it.
    fn run(self, notifications: Notifications) -> Notifications {
        stream::unfold((self, notifications), |(mut stream, mut current)| async {
            loop {
                if let Some(notification) = current.next().await {
                    stream.backoff.reset();
                    return Some((notification, (stream, current)));
                }
                current = stream.reopen().await;
            }
        })
        .boxed()
    }

    async fn reopen(&mut self) -> Notifications {
        loop {
            sleep(self.backoff.delay()).await;
            if let Some((_, notifications)) = self.connect().await {
                return notifications;
            }
        }
    }
}

fn extension_notification(message: Result<ServerMessage>) -> Option<ExtensionNotification> {
    match message {
        Ok(ServerMessage::Notification(ServerNotification::Extension {
            method, params, ..
        })) => Some(ExtensionNotification {
            client: None,
            method,
            params,
        }),
        _ => None,
    }
}

/// The members that a stream acknowledges; `None` if it ends first.
async fn acknowledged_members(messages: &mut ResponseStream) -> Option<ExtensionMembers> {
    loop {
        match messages.next().await? {
            Ok(ServerMessage::Notification(ServerNotification::Acknowledged {
                extension_members,
                ..
            })) => return Some(extension_members),
            Ok(ServerMessage::Notification(_)) => {}
            _ => return None,
        }
    }
}

/// Everything that a legacy server sends outside of calls, until the connection is closed. A client that
/// is too slow misses some.
fn all_notifications(connection: Arc<Connection>) -> Notifications {
    let receiver = connection.notifications.extensions();
    let notifications = stream::unfold(receiver, |mut receiver| async {
        loop {
            match receiver.recv().await {
                Ok(notification) => {
                    return Some((ExtensionNotification::clone(&notification), receiver));
                }
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    });
    let closed = async move { connection.channel.closed().await };
    notifications.take_until(Box::pin(closed)).boxed()
}
