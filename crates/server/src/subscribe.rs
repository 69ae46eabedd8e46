//! Changes for a legacy session: the core's streams of changes, carried to the session's own stream.

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::{
    Ask, Change, Code, Error, Event, EventStream, Filter, Gateway, Own, RawJson, Reply, Request,
    Result,
};
use tidegate_mcp::revision::{Method, legacy_change};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Doors;
use crate::path::Peer;
use crate::session::{Outlet, Session};

/// Tells a new session when one of the lists changes, from now on.
pub(crate) async fn to_lists(doors: &Doors, peer: &Peer, session: &Session) {
    let ask = Ask::Own(Own::Listen(Filter::lists()));
    let params = RawJson::empty_object();
    let request = doors.request(peer, Method::Listen, ask, params, session.terms());
    if let Ok(Reply::Stream(changes)) = doors.gateway.handle(request).await {
        let (outlet, ended) = (Arc::clone(&session.standing), session.ended.clone());
        // What a user did elsewhere is for the client that sent it there alone.
        let questions = Arc::clone(&session.questions);
        let own = changes.filter(move |event| {
            let is_for_it = match event {
                Ok(Event::Change(Change::Elicited(id))) => questions.is_its_errand(id),
                _ => true,
            };
            std::future::ready(is_for_it)
        });
        let own = own.boxed();
        doors
            .tasks
            .spawn(async move { carry(own, &outlet, None, &ended).await });
    }
}

/// Subscribes a session to one resource, until `ended`; says whether its source can.
pub(crate) async fn to_resource(
    gateway: &Gateway,
    tasks: &TaskTracker,
    outlet: &Arc<Outlet>,
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
    let (outlet, uri) = (Arc::clone(outlet), uri.to_owned());
    tasks.spawn(async move { carry(changes, &outlet, Some(&uri), &ended).await });
    Ok(true)
}

/// Carries changes to a stream. Where too many wait there, an update of `uri` stands for those of
/// everything below it.
async fn carry(
    mut changes: EventStream,
    outlet: &Outlet,
    uri: Option<&str>,
    ended: &CancellationToken,
) {
    loop {
        let event = tokio::select! {
            () = ended.cancelled() => return,
            event = changes.next() => event,
        };
        match event {
            Some(Ok(Event::Change(change))) => {
                let whole = uri.map(|uri| Change::Updated(uri.into()));
                let instead = || legacy_change(whole.as_ref().unwrap_or(&change));
                outlet.push_once(legacy_change(&change), instead);
            }
            Some(Ok(Event::Done(_)) | Err(_)) | None => return,
            Some(Ok(_)) => {}
        }
    }
}

pub(crate) fn cannot(uri: &str) -> Error {
    let message = "no resource that can be subscribed to has this URI";
    Error::client(Code::InvalidParams, message).about_uri(uri)
}

/// The refusal of more subscriptions than there may be.
pub(crate) fn too_many(limit: usize) -> Error {
    let message = format!("at most {limit} resources and tasks can be subscribed to at once");
    Error::client(Code::InvalidParams, message)
}
