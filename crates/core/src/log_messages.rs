//! Log messages that sources send outside of calls, and the clients that receive them.
//!
//! They are not changes: a source may send many of them, and a client that misses some has missed
//! nothing else. So they have queues of their own, and are dropped where one is full.
//!
//! Must not know: which level a client has set.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, SelectAll, StreamExt};
use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use crate::{AffinityKey, LoggingLevel, Principal, RawJson, Scope, SourceId, Viewer};

/// Messages of one source, or for one client, that may wait.
const MAX_QUEUED: usize = 256;

/// A log message that belongs to no call.
#[derive(Clone, Debug)]
pub struct LogMessage {
    pub level: LoggingLevel,
    pub params: RawJson,
    /// Whether several clients share the connection that it came from. Then only clients that asked for
    /// log messages get it.
    pub is_shared: bool,
}

/// Who receives a log message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRecipient {
    /// The client with this affinity key.
    Client(AffinityKey),
    /// All clients of a principal.
    Principal(Principal),
}

/// The log messages of one source, from now on.
pub type LogStream = BoxStream<'static, (LogRecipient, LogMessage)>;

/// Sends the log messages of a source.
#[derive(Clone, Debug)]
pub struct LogSender(broadcast::Sender<(LogRecipient, LogMessage)>);

impl Default for LogSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(MAX_QUEUED))
    }
}

impl LogSender {
    pub fn send(&self, recipient: LogRecipient, message: LogMessage) {
        // An error means that nobody listens.
        self.0.send((recipient, message)).ok();
    }

    /// The messages from now on. A receiver that falls behind misses some.
    pub fn stream(&self) -> LogStream {
        let messages = stream::unfold(self.0.subscribe(), |mut receiver| async {
            loop {
                match receiver.recv().await {
                    Ok(message) => return Some((message, receiver)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        });
        messages.boxed()
    }
}

/// Delivers the log messages of all sources to the clients that receive them.
#[derive(Default)]
pub(crate) struct LogRouter(Mutex<Receivers>);

#[derive(Default)]
struct Receivers {
    by_client: HashMap<AffinityKey, LogReceiver>,
    next_number: u64,
}

/// One client that receives log messages.
struct LogReceiver {
    /// A later receiver of the same client replaces this one.
    number: u64,
    principal: Principal,
    scope: Scope,
    queue: mpsc::Sender<LogMessage>,
}

impl LogReceiver {
    fn push(&self, source: &SourceId, message: LogMessage) {
        let is_in_scope = match &self.scope {
            Scope::All => true,
            Scope::Source(only) => only == source,
        };
        if is_in_scope {
            // A client that reads too slowly misses some.
            self.queue.try_send(message).ok();
        }
    }
}

impl LogRouter {
    /// Forwards the messages of the sources, for as long as it is polled.
    pub(crate) async fn run(&self, sources: impl IntoIterator<Item = (SourceId, LogStream)>) {
        let sources = sources.into_iter().map(|(source, messages)| {
            let with_source = messages.map(move |message| (source.clone(), message));
            with_source.boxed()
        });
        let mut messages: SelectAll<_> = sources.collect();
        while let Some((source, (recipient, message))) = messages.next().await {
            self.deliver(&source, &recipient, message);
        }
    }

    fn deliver(&self, source: &SourceId, recipient: &LogRecipient, message: LogMessage) {
        let receivers = self.0.lock();
        match recipient {
            LogRecipient::Client(client) => {
                if let Some(receiver) = receivers.by_client.get(client) {
                    receiver.push(source, message);
                }
            }
            LogRecipient::Principal(principal) => {
                let receivers = receivers.by_client.values();
                for receiver in receivers.filter(|receiver| receiver.principal == *principal) {
                    receiver.push(source, message.clone());
                }
            }
        }
    }

    /// The messages for a client, until the stream is dropped. There are none for a client without an
    /// affinity key.
    pub(crate) fn receive(
        self: &Arc<Self>,
        scope: &Scope,
        viewer: &Viewer<'_>,
    ) -> BoxStream<'static, LogMessage> {
        let Some(client) = viewer.client.affinity else {
            return stream::empty().boxed();
        };
        let (queue, messages) = mpsc::channel(MAX_QUEUED);
        let number = {
            let mut receivers = self.0.lock();
            receivers.next_number += 1;
            let number = receivers.next_number;
            let receiver = LogReceiver {
                number,
                principal: viewer.caller.principal.clone(),
                scope: scope.clone(),
                queue,
            };
            receivers.by_client.insert(client, receiver);
            number
        };
        let guard = ReceiverGuard {
            router: Arc::clone(self),
            client,
            number,
        };
        let messages = stream::unfold((messages, guard), |(mut messages, guard)| async {
            let message = messages.recv().await?;
            Some((message, (messages, guard)))
        });
        messages.boxed()
    }
}

/// Removes a receiver when its stream is dropped.
struct ReceiverGuard {
    router: Arc<LogRouter>,
    client: AffinityKey,
    number: u64,
}

impl Drop for ReceiverGuard {
    fn drop(&mut self) {
        let mut receivers = self.router.0.lock();
        let receiver = receivers.by_client.get(&self.client);
        if receiver.is_some_and(|receiver| receiver.number == self.number) {
            receivers.by_client.remove(&self.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{Caller, ClientContext};

    struct Client {
        caller: Caller,
        context: ClientContext,
    }

    impl Client {
        fn of(principal: &str) -> Self {
            Self {
                caller: Caller {
                    principal: Principal::new(principal),
                    admin: false,
                },
                context: ClientContext {
                    affinity: Some(AffinityKey::generate()),
                    ..ClientContext::default()
                },
            }
        }

        fn receive(
            &self,
            router: &Arc<LogRouter>,
            scope: &Scope,
        ) -> BoxStream<'static, LogMessage> {
            let viewer = Viewer {
                caller: &self.caller,
                client: &self.context,
            };
            router.receive(scope, &viewer)
        }

        fn recipient(&self) -> LogRecipient {
            LogRecipient::Client(self.context.affinity.unwrap())
        }
    }

    fn message() -> LogMessage {
        LogMessage {
            level: LoggingLevel::Info,
            params: RawJson::empty_object(),
            is_shared: false,
        }
    }

    fn count(messages: &mut BoxStream<'static, LogMessage>) -> usize {
        std::iter::from_fn(|| messages.next().now_or_never().flatten()).count()
    }

    /// S1.37.
    #[test]
    fn a_message_reaches_only_its_client_or_the_clients_of_its_principal() {
        let router = Arc::new(LogRouter::default());
        let clients = ["ada", "ada", "bob"].map(Client::of);
        let mut streams = [0, 1, 2].map(|client| clients[client].receive(&router, &Scope::All));
        let source = "maps".parse().unwrap();
        router.deliver(&source, &clients[0].recipient(), message());
        assert_eq!(streams.each_mut().map(count), [1, 0, 0]);
        let ada = LogRecipient::Principal(Principal::new("ada"));
        router.deliver(&source, &ada, message());
        assert_eq!(streams.each_mut().map(count), [1, 1, 0]);
    }

    #[test]
    fn a_client_at_the_endpoint_of_one_source_receives_the_messages_of_that_source() {
        let router = Arc::new(LogRouter::default());
        let ada = Client::of("ada");
        let mut stream = ada.receive(&router, &Scope::Source("maps".parse().unwrap()));
        router.deliver(&"maps".parse().unwrap(), &ada.recipient(), message());
        router.deliver(&"other".parse().unwrap(), &ada.recipient(), message());
        assert_eq!(count(&mut stream), 1);
    }

    #[test]
    fn queues_are_bounded_and_removed_with_their_client() {
        let router = Arc::new(LogRouter::default());
        let ada = Client::of("ada");
        let first = ada.receive(&router, &Scope::All);
        let mut second = ada.receive(&router, &Scope::All);
        drop(first);
        for _ in 0..10 * MAX_QUEUED {
            router.deliver(&"maps".parse().unwrap(), &ada.recipient(), message());
        }
        assert_eq!(count(&mut second), MAX_QUEUED);
        drop(second);
        assert!(router.0.lock().by_client.is_empty());
    }
}
