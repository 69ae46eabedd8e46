//! The legacy handshake: opens a session.

use tidegate_core::{
    AffinityKey, ClientContext, Code, Error, GatewayOperation, Operation, RawJson, Reply, Result,
    Scope,
};
use tidegate_mcp::revision::{Method, lift_legacy};
use tidegate_mcp::{Lifted, Message, OutgoingMessage, Revision};
use tokio_util::sync::CancellationToken;

use crate::Transports;
use crate::dispatch::lowering_of;
use crate::error_response::ErrorResponse;
use crate::requester::Requester;
use crate::session::Session;

impl Transports {
    /// Runs a legacy handshake as a discover request. There is no session if the gateway rejects it.
    pub(crate) async fn handshake(
        &self,
        requester: &Requester,
        message: Message,
    ) -> Result<(OutgoingMessage, Option<Session>), ErrorResponse> {
        let lifted = lift_legacy(message, Revision::NEWEST_LEGACY, ClientContext::default());
        let Lifted::Handshake { id, handshake } = lifted.map_err(ErrorResponse::legacy)? else {
            let message = "`initialize` must be a request";
            return Err(Error::client(Code::InvalidRequest, message).into());
        };
        let operation = Operation::Gateway(GatewayOperation::Discover);
        let affinity = requester.affinity.unwrap_or_else(AffinityKey::generate);
        let client = ClientContext {
            affinity: Some(affinity),
            capabilities: handshake.capabilities.clone(),
            client_info: handshake.client_info.clone(),
            ..ClientContext::default()
        };
        let method = Method::Initialize;
        let request = requester.request(method, operation, RawJson::empty_object(), client);
        let lowering = lowering_of(handshake.revision, method, id, &request);
        let response = match self.gateway.handle(request).await {
            Ok(Reply::Done(outcome)) => lowering.outcome(&outcome),
            Ok(Reply::Stream(_)) => lowering.error(&Error::internal("unexpected event stream")),
            Err(error) => lowering.error(&error),
        };
        let succeeded = matches!(response, OutgoingMessage::Response { code: None, .. });
        let session = succeeded.then(|| {
            let requester = Requester {
                affinity: Some(affinity),
                ..requester.clone()
            };
            let session = Session::new(requester, handshake, &self.limits, &self.aborted);
            self.announce_end(&session.ended, &session.scope, session.affinity);
            session
        });
        if !succeeded {
            self.gateway.client_gone(&requester.scope, affinity);
        }
        Ok((response, session))
    }

    /// Tells the sources when a client has gone.
    pub(crate) fn announce_end(
        &self,
        ended: &CancellationToken,
        scope: &Scope,
        affinity: AffinityKey,
    ) {
        let (ended, gateway, scope) = (ended.clone(), self.gateway.clone(), scope.clone());
        // Not among the tasks that a shutdown waits for: sessions end with it.
        tokio::spawn(async move {
            ended.cancelled().await;
            gateway.client_gone(&scope, affinity);
        });
    }
}
