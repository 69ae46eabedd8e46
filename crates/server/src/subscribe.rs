//! Changes for a legacy session: the core's streams of changes, carried to the session's own stream.

use std::sync::Arc;

use futures_util::{FutureExt as _, StreamExt};
use tidegate_core::{
    Change, ChangeFilter, Code, Error, Event, EventStream, Gateway, GatewayOperation, Operation,
    RawJson, Reply, Request, Result,
};
use tidegate_mcp::revision::{Method, legacy_change_notification};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Transports;
use crate::dispatch::Peer;
use crate::session::{Outlet, Session, Subscriptions};

/// Tells a new session when one of the lists changes, from now on.
pub(crate) async fn to_lists(transports: &Transports, peer: &Peer, session: &Session) {
    let operation = Operation::Gateway(GatewayOperation::Listen(ChangeFilter::all_lists()));
    let params = RawJson::empty_object();
    let request = transports.request(peer, Method::Listen, operation, params, session.client());
    if let Ok(Reply::Stream(changes)) = transports.gateway.handle(request).await {
        let (outlet, ended) = (Arc::clone(&session.standing), session.ended.clone());
        // What a user did elsewhere is for the client that sent it there alone.
        let questions = Arc::clone(&session.questions);
        let own = changes.filter(move |event| {
            let is_for_it = match event {
                Ok(Event::Change(Change::ElicitationComplete(id))) => {
                    questions.complete_url_elicitation(id)
                }
                _ => true,
            };
            std::future::ready(is_for_it)
        });
        let own = own.boxed();
        transports
            .tasks
            .spawn(async move { carry(own, &outlet, &ended).await });
    }
}

/// Subscribes a session to one resource, until `ended`; says whether its source can.
pub(crate) async fn to_resource(
    gateway: &Gateway,
    tasks: &TaskTracker,
    session: &Session,
    request: Request,
    uri: &str,
    ended: CancellationToken,
) -> Result<bool> {
    let Reply::Stream(mut changes) = gateway.handle(request).await? else {
        return Err(Error::internal(
            "the gateway did not open a stream of changes",
        ));
    };
    let honoured = match changes.next().await {
        Some(Ok(Event::Acknowledged(filter))) => filter.uris.contains(uri),
        Some(Err(error)) => return Err(error),
        _ => false,
    };
    if !honoured {
        return Ok(false);
    }
    session.subscriptions.begin(uri, &ended);
    // The session itself is not kept: it ends when nobody else has it.
    let subscribed = Subscribed {
        outlet: Arc::clone(&session.standing),
        others: Arc::clone(&session.subscriptions),
        uri: uri.to_owned(),
    };
    tasks.spawn(async move { subscribed.carry(changes, &ended).await });
    Ok(true)
}

/// One subscription of a session.
struct Subscribed {
    outlet: Arc<Outlet>,
    /// All of the session's.
    others: Arc<Subscriptions>,
    uri: String,
}

impl Subscribed {
    /// Carries what changes to the session's stream. What a nearer subscription tells is left to it.
    async fn carry(&self, mut changes: EventStream, ended: &CancellationToken) {
        loop {
            let event = tokio::select! {
                () = ended.cancelled() => break,
                event = changes.next() => event,
            };
            match event {
                Some(Ok(Event::Change(change))) => {
                    let is_own = match &change {
                        Change::ResourceUpdated(changed) => {
                            self.others.is_nearest(&self.uri, changed)
                        }
                        _ => true,
                    };
                    if is_own {
                        self.tell(&change);
                    }
                }
                Some(Ok(Event::Done(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            }
        }
        // What was left to this one is still told where another covers it.
        for _ in 0..MOST_LEFT {
            let Some(Some(Ok(event))) = changes.next().now_or_never() else {
                return;
            };
            if let Event::Change(Change::ResourceUpdated(changed)) = event
                && self.others.cover(&changed)
            {
                self.tell(&Change::ResourceUpdated(changed));
            }
        }
    }

    /// Where too many wait, an update of the URI stands for those of everything below it.
    fn tell(&self, change: &Change) {
        let whole =
            || legacy_change_notification(&Change::ResourceUpdated(self.uri.as_str().into()));
        self.outlet
            .push_once(legacy_change_notification(change), whole);
    }
}

/// Changes that are looked at when a subscription ends.
const MOST_LEFT: usize = 1_024;

/// Carries changes of lists to a stream.
async fn carry(mut changes: EventStream, outlet: &Outlet, ended: &CancellationToken) {
    loop {
        let event = tokio::select! {
            () = ended.cancelled() => return,
            event = changes.next() => event,
        };
        match event {
            Some(Ok(Event::Change(change))) => {
                outlet.push_once(legacy_change_notification(&change), || {
                    legacy_change_notification(&change)
                });
            }
            Some(Ok(Event::Done(_)) | Err(_)) | None => return,
            Some(Ok(_)) => {}
        }
    }
}

pub(crate) fn cannot(uri: &str) -> Error {
    let message = "no resource that can be subscribed to has this URI";
    Error::client(Code::InvalidParams, message).with_uri(uri)
}

/// The refusal of more subscriptions than there may be.
pub(crate) fn too_many(limit: usize) -> Error {
    let message = format!("at most {limit} resources and tasks can be subscribed to at once");
    Error::client(Code::InvalidParams, message)
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;
    use crate::Limits;

    #[tokio::test]
    async fn what_a_nearer_subscription_tells_is_left_to_it() {
        let all = Arc::new(Subscriptions::new(3));
        let session = CancellationToken::new();
        let ended = all.add("a://b", &session).unwrap().unwrap();
        all.begin("a://b", &ended);
        let nearer = all.add("a://b/c", &session).unwrap().unwrap();
        let folder = Subscribed {
            outlet: Outlet::new(1, 8, &Limits::default()),
            others: Arc::clone(&all),
            uri: "a://b".to_owned(),
        };
        let mut reader = folder.outlet.read();
        let updates = |uris: &'static [&str]| {
            let updated = |uri: &&str| Ok(Event::Change(Change::ResourceUpdated((*uri).into())));
            stream::iter(uris.iter().map(updated)).boxed()
        };
        let mut heard = async |uri: &str| {
            let (_, frame) = reader.next().await.unwrap();
            assert!(frame.json().contains(&format!("\"{uri}\"")), "{frame:?}");
        };
        // The nearer one hears nothing yet.
        folder.carry(updates(&["a://b/c"]), &ended).await;
        heard("a://b/c").await;
        all.begin("a://b/c", &nearer);
        let three = updates(&["a://b/c", "a://b/c/d", "a://b/cd"]);
        folder.carry(three, &ended).await;
        heard("a://b/cd").await;
        all.remove("a://b/c");
        folder.carry(updates(&["a://b/c"]), &ended).await;
        heard("a://b/c").await;
    }

    /// What was left to a subscription that ends meanwhile is not lost.
    #[tokio::test]
    async fn one_that_ends_tells_what_was_left_to_it() {
        let all = Arc::new(Subscriptions::new(3));
        let session = CancellationToken::new();
        all.add("a://b", &session).unwrap();
        let ended = all.add("a://b/c", &session).unwrap().unwrap();
        let file = Subscribed {
            outlet: Outlet::new(1, 8, &Limits::default()),
            others: Arc::clone(&all),
            uri: "a://b/c".to_owned(),
        };
        let heard = |uri: &str| Ok(Event::Change(Change::ResourceUpdated(uri.into())));
        let left = stream::iter([heard("a://b/c")]).chain(stream::pending());
        all.remove("a://b/c");
        file.carry(left.boxed(), &ended).await;
        let (_, frame) = file.outlet.read().next().await.unwrap();
        assert!(frame.json().contains("a://b/c"), "{frame:?}");
    }
}
