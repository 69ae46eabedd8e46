//! Opens connections: transport, era detection, handshake.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tidegate_core::Result;
use tidegate_mcp::Era;
use tidegate_mcp::revision::client::SessionSupport;
use tokio_util::task::TaskTracker;

use super::connection::Connection;
use super::duplex::DuplexChannel;
use super::era_detection::initialize;
pub(crate) use super::handshake::EraPreference;
use super::handshake::{Handshake, HandshakeError, handshake};
use super::http::HttpChannel;
use super::notification_queue::{NotificationSender, notification_queue};
use super::own_requests::RequestIds;
use super::{DeclaredClient, NegotiatedSession, Notifications, RequestChannel};
use crate::config::{EraSetting, RemoteConfig, TransportConfig};
use crate::error::source_failed;
use crate::transport::http::Endpoint;
use crate::transport::sse::{self, SseStream};
use crate::transport::stdio::{self, Command, StartFailure};

/// How long a server of the SSE transport may take to send its `endpoint` event.
const SSE_ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a modern server may take to open or refuse a session.
const SESSION_PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection, and the notifications on it that belong to no request.
pub(crate) type Connected = (Arc<Connection>, Notifications);

/// Opens a connection for a client. Its tasks run in `background_tasks`.
pub(crate) async fn connect(
    config: &RemoteConfig,
    background_tasks: &TaskTracker,
    client: &DeclaredClient,
    preference: EraPreference,
) -> Result<Connected> {
    let preference = match config.era {
        EraSetting::Auto => preference,
        EraSetting::Legacy => EraPreference::LegacyOnly,
        EraSetting::Modern => EraPreference::ModernOnly,
    };
    let attempt = ConnectAttempt {
        config,
        background_tasks,
        client,
        preference,
    };
    let connected = async {
        match &config.transport {
            TransportConfig::Stdio(command) => attempt.over_stdio(command).await,
            TransportConfig::Http(endpoint) => attempt.over_http(endpoint).await,
        }
    };
    let in_time = tokio::time::timeout(config.connect_timeout, connected).await;
    in_time.unwrap_or_else(|_| {
        let seconds = config.connect_timeout.as_secs();
        let message = format!("the handshake did not complete within {seconds} s");
        Err(source_failed(&message))
    })
}

/// Opens a session at a modern server and ends it, to learn what the server declares to legacy clients.
/// `Unknown` without a conclusive response, and for a process.
pub(crate) async fn probe_sessions(
    config: &RemoteConfig,
    background_tasks: &TaskTracker,
) -> SessionSupport {
    let TransportConfig::Http(endpoint) = &config.transport else {
        return SessionSupport::Unknown;
    };
    let (sender, _notifications) = notification_queue();
    let channel = HttpChannel::new(config, endpoint, background_tasks, sender);
    let (ids, gateway) = (RequestIds::default(), DeclaredClient::gateway());
    let opened = initialize(&channel, &ids, &gateway);
    match tokio::time::timeout(SESSION_PROBE_TIMEOUT, opened).await {
        Ok(Ok(Ok(facts))) => {
            // The session ends when the channel is dropped.
            channel.begin_session(NegotiatedSession {
                revision: facts.revision,
                declares_roots: false,
            });
            SessionSupport::Supported {
                facts: Some(Arc::new(facts)),
            }
        }
        Ok(Ok(Err(_))) => SessionSupport::Unsupported,
        Ok(Err(_)) | Err(_) => SessionSupport::Unknown,
    }
}

/// Opens another connection for the same client, to a server whose era or revision has
/// changed, and closes this one. `None` for a process, whose era and revision cannot change.
pub(crate) async fn reconnect(
    config: &RemoteConfig,
    connection: &Connection,
) -> Option<Result<Arc<Connection>>> {
    if !connection.channel.has_headers() {
        return None;
    }
    connection.channel.close().await;
    let connected = connect(
        config,
        &connection.background_tasks,
        &connection.client,
        EraPreference::ModernFirst,
    );
    Some(connected.await.map(|(connection, _)| connection))
}

/// Remembers that era detection is costly for a server, so that it is not repeated on each reconnect:
/// it cost a timeout, or a process that exited at the unknown method.
pub(crate) struct EraMemory {
    needs_session: AtomicBool,
}

impl EraMemory {
    pub(crate) fn new(needs_session: bool) -> Self {
        Self {
            needs_session: AtomicBool::new(needs_session),
        }
    }

    /// Whether era detection is skipped, because it is costly and the server needs a session.
    pub(crate) fn needs_session(&self) -> bool {
        self.needs_session.load(Ordering::Relaxed)
    }

    /// Opens a connection without client capabilities.
    pub(crate) async fn connect(
        &self,
        config: &RemoteConfig,
        background_tasks: &TaskTracker,
    ) -> Result<Connected> {
        let preference = match self.needs_session() {
            true => EraPreference::LegacyFirst,
            false => EraPreference::ModernFirst,
        };
        let gateway = DeclaredClient::gateway();
        let connected = connect(config, background_tasks, &gateway, preference).await;
        let needs_session = connected.as_ref().is_ok_and(|(connection, _)| {
            let is_costly =
                preference == EraPreference::LegacyFirst || connection.detection_was_costly;
            is_costly && connection.facts.revision.era() == Era::Legacy
        });
        self.needs_session.store(needs_session, Ordering::Relaxed);
        connected
    }
}

/// One attempt to open a connection.
struct ConnectAttempt<'a> {
    config: &'a RemoteConfig,
    background_tasks: &'a TaskTracker,
    client: &'a DeclaredClient,
    preference: EraPreference,
}

impl ConnectAttempt<'_> {
    async fn over_stdio(&self, command: &Command) -> Result<Connected> {
        let mut preference = self.preference;
        loop {
            let (sender, notifications) = notification_queue();
            let (channel, ends) = DuplexChannel::new(self.config, sender.clone());
            let (process, exited) = stdio::start(
                &self.config.name,
                command,
                self.config.max_message_bytes,
                ends.outgoing,
                ends.receiver,
                &channel.closed,
                &channel.alive,
            )?;
            let exited = self.background_tasks.track_future(exited);
            channel.transport_tasks.spawn(exited);
            let ids = RequestIds::default();
            let failed = match handshake(&channel, &ids, self.client, preference).await {
                Ok(done) => {
                    process.set_connected();
                    let connection = self.connection(channel, ids, done, sender, preference);
                    return Ok((connection, notifications));
                }
                Err(failed) => failed,
            };
            let exited_itself = channel.closed.is_cancelled();
            channel.close().await;
            // A process that may still answer the first handshake must not get a second one.
            if matches!(failed, HandshakeError::NoResponse(_)) {
                preference = EraPreference::LegacyFirst;
                continue;
            }
            match process.start_failure(exited_itself) {
                // Some servers exit when they receive an unknown method.
                StartFailure::Exited(_) if preference == EraPreference::ModernFirst => {
                    preference = EraPreference::LegacyFirst;
                }
                StartFailure::Exited(report) => return Err(stdio::exited(report)),
                StartFailure::NotStarted(report) => return Err(stdio::not_started(report)),
                StartFailure::HandshakeFailed => return Err(failed.into()),
            }
        }
    }

    async fn over_http(&self, endpoint: &Endpoint) -> Result<Connected> {
        let rejected = match self.over_streamable_http(endpoint).await {
            Ok(connected) => return Ok(connected),
            Err(HandshakeError::Inconclusive(error) | HandshakeError::NoResponse(error)) => {
                return Err(error);
            }
            Err(HandshakeError::Rejected(error)) => error,
        };
        // A server of the SSE transport responds to a GET instead.
        let opened = sse::open(endpoint, self.config.max_message_bytes);
        match tokio::time::timeout(SSE_ENDPOINT_TIMEOUT, opened).await {
            Ok(Ok(stream)) => self.over_sse(stream).await,
            Ok(Err(_)) | Err(_) => Err(rejected),
        }
    }

    async fn over_streamable_http(&self, endpoint: &Endpoint) -> Result<Connected, HandshakeError> {
        let (sender, notifications) = notification_queue();
        let tasks = self.background_tasks;
        let channel = HttpChannel::new(self.config, endpoint, tasks, sender.clone());
        let ids = RequestIds::default();
        let done = handshake(&channel, &ids, self.client, self.preference).await?;
        let connection = self.connection(channel, ids, done, sender, self.preference);
        Ok((connection, notifications))
    }

    async fn over_sse(&self, stream: SseStream) -> Result<Connected> {
        let (sender, notifications) = notification_queue();
        let (channel, ends) = DuplexChannel::new(self.config, sender.clone());
        let closed = channel.closed.clone();
        stream.run(ends.outgoing, ends.receiver, closed, self.background_tasks);
        let (ids, preference) = (RequestIds::default(), EraPreference::LegacyFirst);
        let done = handshake(&channel, &ids, self.client, preference).await?;
        let connection = self.connection(channel, ids, done, sender, preference);
        Ok((connection, notifications))
    }

    fn connection(
        &self,
        channel: impl RequestChannel,
        ids: RequestIds,
        handshake: Handshake,
        notifications: NotificationSender,
        preference: EraPreference,
    ) -> Arc<Connection> {
        Arc::new(Connection::new(
            Arc::new(channel),
            ids,
            handshake.facts,
            notifications,
            self.client.clone(),
            self.background_tasks.clone(),
            handshake.detection_timed_out || preference != self.preference,
        ))
    }
}
