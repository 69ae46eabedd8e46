//! Changes for a legacy session: the core's streams of changes, carried to the session's own stream.

use std::sync::Arc;

use futures_util::StreamExt;
use tidegate_core::{
    Ask, Code, Error, Event, EventStream, Filter, Gateway, Own, RawJson, Reply, Request, Result,
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
    let request = doors.request(peer, Method::Initialize, ask, params, session.terms());
    if let Ok(Reply::Stream(changes)) = doors.gateway.handle(request).await {
        let (outlet, ended) = (Arc::clone(&session.standing), session.ended.clone());
        doors
            .tasks
            .spawn(async move { carry(changes, &outlet, &ended).await });
    }
}

/// Subscribes a session to one resource.
pub(crate) async fn to_resource(
    gateway: &Gateway,
    tasks: &TaskTracker,
    session: &Session,
    request: Request,
    uri: &str,
) -> Result<()> {
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
        return Err(cannot(uri));
    }
    let ended = session.subscribe(uri)?;
    let outlet = Arc::clone(&session.standing);
    tasks.spawn(async move { carry(changes, &outlet, &ended).await });
    Ok(())
}

async fn carry(mut changes: EventStream, outlet: &Outlet, ended: &CancellationToken) {
    loop {
        let event = tokio::select! {
            () = ended.cancelled() => return,
            event = changes.next() => event,
        };
        match event {
            Some(Ok(Event::Change(change))) => outlet.push_once(legacy_change(&change)),
            Some(Ok(Event::Done(_)) | Err(_)) | None => return,
            Some(Ok(_)) => {}
        }
    }
}

fn cannot(uri: &str) -> Error {
    let message = "no resource that can be subscribed to has this URI";
    Error::client(Code::InvalidParams, message).about_uri(uri)
}

/// The refusal of a filter that names too many resources.
pub(crate) fn too_many(limit: usize) -> Error {
    let message = format!("at most {limit} resources can be subscribed to at once");
    Error::client(Code::InvalidParams, message)
}
