//! The path of a call to the server: which connection it uses, how it is sent, and when it is sent
//! again.

mod call_events;
mod events;
mod repair;
mod retry_once;
mod task;

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::{
    Call, CatalogEntry, Code, Event, EventStream, List, QuestionKind, Reply, Result, Viewer, on_end,
};
use tidegate_interaction::Interaction;
use tidegate_mcp::Era;
use tokio_util::sync::CancellationToken;

use crate::catalog::loader::load_tools;
use crate::catalog::refresh::Refresher;
use crate::catalog::snapshot::{CatalogConnection, Snapshot};
use crate::client_key::ClientKey;
use crate::config::RemoteConfig;
use crate::error::source_unreachable;
use crate::occupancy::Occupancy;
use crate::pool::{Pool, PooledConnection};
use crate::sampled_models::SampledModels;
use crate::session::Connection;
use crate::session::connect::reconnect;
use call_events::call_events;
use retry_once::{RetryAfter, retry_after_first_message};

/// Relays calls to one server.
pub(crate) struct Relay {
    pub(crate) config: Arc<RemoteConfig>,
    pub(crate) refresher: Arc<Refresher>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) occupancy: Arc<Occupancy>,
    pub(crate) interaction: Interaction,
    pub(crate) sampled_models: Arc<SampledModels>,
    /// Cancelled when the first attempt to connect has succeeded or failed.
    pub(crate) first_attempt: CancellationToken,
}

/// A call that was sent to the server.
struct SentCall {
    events: EventStream,
    /// The era of the connection that it was sent over.
    era: Era,
}

impl SentCall {
    fn new(events: EventStream, connection: &Connection) -> Self {
        Self {
            events,
            era: connection.facts.revision.era(),
        }
    }
}

impl Relay {
    pub(crate) async fn call(&self, call: &Call) -> Result<Reply> {
        // What was saved is listed before the server has started.
        self.first_attempt.cancelled().await;
        let snapshot = self.refresher.snapshots.load();
        let facts = snapshot.facts.as_ref().ok_or_else(|| self.unreachable())?;
        let era = facts.revision.era();
        if let Some(events) = self.interaction.resume(call, era)? {
            return Ok(Reply::Stream(events));
        }
        let viewer = Viewer {
            caller: &call.caller,
            client: &call.client,
        };
        let catalog = self.refresher.snapshots.catalog(&self.config, &viewer);
        let tools = catalog.list(List::Tools);
        let sent = match self.over_catalog_connection(&snapshot, call, tools).await? {
            Some(sent) => sent,
            None => self.over_client_connection(&snapshot, call, tools).await?,
        };
        let refresher = Arc::clone(&self.refresher);
        let events = sent.events.inspect(move |event| {
            if matches!(event, Err(error) if error.code() == Code::SourceDown) {
                refresher.call_failed.notify_one();
            }
        });
        let events = self.count_models(events.boxed(), call, sent.era);
        let events = self.interaction.adapt(events, call, sent.era);
        Ok(Reply::Stream(events))
    }

    /// Counts the models of sampling results: the answers to questions in the middle of a call, and those
    /// that a continuation has brought.
    fn count_models(&self, events: EventStream, call: &Call, server: Era) -> EventStream {
        let principal = call.caller.principal.clone();
        if server == Era::Modern {
            self.sampled_models.record_answers(&principal, &call.params);
            return events;
        }
        let models = Arc::clone(&self.sampled_models);
        let events = events.map(move |event| match event {
            Ok(Event::Question(question)) if question.kind == QuestionKind::Sample => {
                let (models, principal) = (Arc::clone(&models), principal.clone());
                let question = question.on_answer(move |result| models.record(&principal, result));
                Ok(Event::Question(question))
            }
            event => event,
        });
        events.boxed()
    }

    /// Sends a call over the catalog connection, if no client is to be told apart there.
    async fn over_catalog_connection(
        &self,
        snapshot: &Snapshot,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<Option<SentCall>> {
        let (CatalogConnection::Open(connection), Some(facts)) =
            (&snapshot.connection, &snapshot.facts)
        else {
            return Ok(None);
        };
        let principal = &call.caller.principal;
        let key = ClientKey::for_client(&self.config, facts, principal, &call.client);
        if key.is_some_and(|key| !key.is_anonymous()) {
            return Ok(None);
        }
        let Some(in_use) = self.occupancy.use_catalog_connection() else {
            return Ok(None);
        };
        let events = self.send(connection, call, tools).await?;
        let events = on_end(events, in_use, |_, _| ());
        Ok(Some(SentCall::new(events, connection)))
    }

    /// Sends a call over the connection of its client.
    async fn over_client_connection(
        &self,
        snapshot: &Snapshot,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<SentCall> {
        let facts = snapshot.facts.as_ref().ok_or_else(|| self.unreachable())?;
        if matches!(snapshot.connection, CatalogConnection::Unavailable)
            && !self.pool.has_connection(&self.config, facts, call)
        {
            return Err(self.unreachable());
        }
        let selected = self.pool.select(facts, call).await;
        let selected = selected.inspect_err(|_| self.refresher.call_failed.notify_one());
        match selected? {
            Some(pooled) => self.send_pooled(pooled, call, tools).await,
            // The server turned out to have no sessions.
            None => {
                let connection = snapshot.open_connection();
                let connection = connection.ok_or_else(|| self.unreachable())?;
                let events = self.send(connection, call, tools).await?;
                Ok(SentCall::new(events, connection))
            }
        }
    }

    /// Sends a call over the connection of its client, which is held until the call is done. While the
    /// server waits for an answer, the next call may begin.
    async fn send_pooled(
        &self,
        pooled: PooledConnection,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<SentCall> {
        let connection = Arc::clone(&pooled.connection);
        let events = self.send(&connection, call, tools).await?;
        let mut pooled = pooled;
        let events = events.inspect(move |event| {
            if matches!(event, Ok(Event::Question(_) | Event::Done(_)) | Err(_)) {
                pooled.end_turn();
            }
        });
        Ok(SentCall::new(events.boxed(), &connection))
    }

    /// Sends a call, and retries it once if the server rejected its encoding.
    async fn send(
        &self,
        connection: &Arc<Connection>,
        call: &Call,
        tools: &[CatalogEntry],
    ) -> Result<EventStream> {
        // The call is registered before anything is sent: a question that arrives before the call
        // is sent belongs to it.
        let messages = connection.send_call(call, tools)?;
        connection.announce_unknown_roots().await;
        connection.request_log_level(call.client.log_level).await;
        match retry_after_first_message(messages, call).await {
            (messages, None) => Ok(call_events(messages, connection, call)),
            (_, Some(RetryAfter::ReloadTools)) => {
                self.refresher.request_refresh();
                let capabilities = &call.client.capabilities;
                let tools = load_tools(&self.config, connection, capabilities).await?;
                let messages = connection.send_call(call, &tools)?;
                Ok(call_events(messages, connection, call))
            }
            (messages, Some(RetryAfter::Reconnect)) => {
                match reconnect(&self.config, connection).await {
                    None => Ok(call_events(messages, connection, call)),
                    Some(reconnected) => {
                        let connection = reconnected?;
                        let messages = connection.send_call(call, tools)?;
                        Ok(call_events(messages, &connection, call))
                    }
                }
            }
        }
    }

    fn unreachable(&self) -> tidegate_core::Error {
        let name = &self.config.name;
        source_unreachable(&format!("source `{name}` is not connected; retry later"))
    }
}
